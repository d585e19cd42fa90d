import type { Skill } from './skill.ts';

/** How the model receives the skills: their whole texts, or their names and descriptions. */
export type Disclosure = 'full' | 'progressive';

/** Bytes of skill texts above which the model receives names and opens the texts itself. */
const mostAtOnce = 8 * 1024;

/** Returns whether the model opens the skills itself: as configured, else if their texts are too long for a prompt. */
export function disclosesProgressively(
  configured: Disclosure | undefined,
  skills: readonly Pick<Skill, 'body' | 'tools'>[],
): boolean {
  if (skills.length === 0) return false;
  if (configured !== undefined) return configured === 'progressive';
  const texts = skills.filter(({ tools }) => tools.length === 0).map(({ body }) => body);
  return Buffer.byteLength(texts.join('')) > mostAtOnce;
}
