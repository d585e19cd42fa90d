/** Returns the complete sentences of a string after its first `said` characters, for screen readers. */
export function sentencesAfter(text: string, said: number): string {
  const rest = text.slice(said);
  const end = /^[\s\S]*[.!?:\n](?=\s|$)/.exec(rest)?.[0] ?? '';
  return end.trim() === '' ? '' : end;
}
