/**
 * Tells whether a text has the form of an email: one `@` and a domain with a dot, blanks around it
 * aside. The check is structural only (document 1 section 5).
 */
export function isEmailShaped(text: string): boolean {
  return /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text.trim());
}
