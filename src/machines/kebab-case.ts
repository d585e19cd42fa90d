/** Lower-case words joined by single hyphens. */
export const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Returns true if a string may name an agent or a skill. The name becomes a part of paths. */
export function isKebabName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 64 && kebabCase.test(text);
}
