import type { Caller } from '../domain/task.ts';

/**
 * Returns true if a presented assurance level meets a required one (docs/contract/step-up.md): at least as high in the
 * hierarchy, or equal if there is no hierarchy. A level that the hierarchy does not list, presented or required, is
 * never met.
 */
export function satisfiesAcr(
  presented: string | undefined,
  required: string,
  hierarchy: readonly string[],
): boolean {
  if (presented === undefined || presented === '') return false;
  if (hierarchy.length === 0) return presented === required;
  const requiredRank = hierarchy.indexOf(required);
  return requiredRank !== -1 && hierarchy.indexOf(presented) >= requiredRank;
}

/** Describes why an identity does not meet a requirement; `null` means no identity. */
export function stepUpReason(requester: Caller | null, required: string): string {
  if (requester === null) return 'no verified identity';
  if (requester.acr === undefined || requester.acr === '') return 'no acr claim presented';
  return `acr "${requester.acr}" does not satisfy "${required}"`;
}

/**
 * Returns true if a person signed in at a lower level than the requester, whose level governs all calls of a task.
 * Returns false if the requester's level cannot meet any requirement, because there is nothing to inherit.
 */
export function isWeaker(
  speaker: Caller | null,
  requester: Caller | null,
  hierarchy: readonly string[],
): boolean {
  const acr = requester?.acr ?? '';
  const isWorthNothing = acr === '' || (hierarchy.length > 0 && !hierarchy.includes(acr));
  if (isWorthNothing || speaker?.acr === acr) return false;
  return !satisfiesAcr(speaker?.acr, acr, hierarchy);
}
