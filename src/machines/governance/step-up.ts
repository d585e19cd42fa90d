/**
 * Tells whether a presented assurance level meets a required one (document 1 section 5.1):
 * at least as high in the hierarchy, or equal when there is none. An unknown level never does.
 */
export function satisfiesAcr(
  presented: string | undefined,
  required: string,
  hierarchy: readonly string[],
): boolean {
  if (presented === undefined || presented === '') return false;
  if (hierarchy.length === 0) return presented === required;
  const rank = hierarchy.indexOf(presented);
  return rank !== -1 && rank >= hierarchy.indexOf(required);
}
