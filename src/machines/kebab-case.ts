/** Lower-case words joined by single hyphens. */
export const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Tells whether a text may name an agent or a skill, which makes it a part of a path. */
export function isKebabName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= 64 && kebabCase.test(text);
}
