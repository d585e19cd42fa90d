/** Maximum length of an email in characters (RFC 5321). */
const longestEmail = 254;

/** One `@` and a domain with a dot, with non-empty parts of printable ASCII. Surrounding blanks are allowed. */
const form = /^[\t-\r ]*([!-?A-~]+@[!--/-?A-~]+(?:\.[!--/-?A-~]+)+)[\t-\r ]*$/;

/** Syntax of an email for consumers of a JSON Schema. */
export const emailPattern: string = form.source;

/**
 * Returns an email normalised for comparison: trimmed and in ASCII lower case (docs/contract/decisions.md). Returns
 * `null` for an invalid email, which matches nothing. Characters that look like ASCII letters, or become ASCII letters
 * in lower case, are invalid. The check is only structural (docs/contract/decisions.md).
 */
export function normaliseEmail(text: string): string | null {
  const email = form.exec(text)?.[1];
  return email === undefined || email.length > longestEmail ? null : email.toLowerCase();
}

/** Returns true if a string is the email of one person; a pattern such as `*@example.com` is not. */
export function namesOnePerson(text: string): boolean {
  return isEmailShaped(text) && !text.includes('*');
}

/** Returns true if a string has the form of an email. */
export function isEmailShaped(text: string): boolean {
  return normaliseEmail(text) !== null;
}
