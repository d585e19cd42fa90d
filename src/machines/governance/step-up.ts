/**
 * Tells whether a presented assurance level meets a required one (document 1 section 5.1):
 * at least as high in the hierarchy, or equal when there is none. A level that the hierarchy does
 * not list, presented or required, is never met.
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
