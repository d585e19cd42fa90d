import type { Caller } from '../task/task.ts';

/**
 * Tells whether a presented assurance level meets a required one (docs/contract/step-up.md): at least as high in the
 * hierarchy, or equal when there is none. A level that the hierarchy does not list, presented or required, is never
 * met.
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

/** Says in words what is missing from an identity that does not meet a requirement; `null` stands for nobody. */
export function stepUpReason(requester: Caller | null, required: string): string {
  if (requester === null) return 'no verified identity';
  if (requester.acr === undefined || requester.acr === '') return 'no acr claim presented';
  return `acr "${requester.acr}" does not satisfy "${required}"`;
}

/**
 * Returns whether somebody has signed in less strongly than the requester, with whose assurance all calls of a
 * task are governed. A level that no requirement can be met with is nobody's to borrow.
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
