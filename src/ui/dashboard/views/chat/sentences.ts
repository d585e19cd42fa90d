/** Returns the whole sentences of a text after its first `said` characters, for a reader of screens. */
export function sentencesAfter(text: string, said: number): string {
  const rest = text.slice(said);
  const end = /^[\s\S]*[.!?:\n](?=\s|$)/.exec(rest)?.[0] ?? '';
  return end.trim() === '' ? '' : end;
}
