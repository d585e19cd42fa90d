/** Longest email, in characters (RFC 5321). */
const longestEmail = 254;

/** One `@` and a domain with a dot, no part of which is empty, in printable ASCII; blanks may stand around it. */
const form = /^[\t-\r ]*([!-?A-~]+@[!--/-?A-~]+(?:\.[!--/-?A-~]+)+)[\t-\r ]*$/;

/**
 * Returns an email as it is compared: without blanks around it and in ASCII lower case (docs/contract/decisions.md). A
 * text that is none is `null` and matches nothing: what looks like an ASCII letter, or becomes one in lower case, is
 * none. The check is structural only (docs/contract/decisions.md).
 */
export function normaliseEmail(text: string): string | null {
  const email = form.exec(text)?.[1];
  return email === undefined || email.length > longestEmail ? null : email.toLowerCase();
}

/** Tells whether a text names one person by an email; a pattern such as `*@example.com` names nobody. */
export function namesOnePerson(text: string): boolean {
  return isEmailShaped(text) && !text.includes('*');
}

/** Tells whether a text has the form of an email. */
export function isEmailShaped(text: string): boolean {
  return normaliseEmail(text) !== null;
}
