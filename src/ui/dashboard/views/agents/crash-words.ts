/** The variable without which an agent did not start, as its last words name it; `null` when they name none. */
export function missingVariable(error: string): string | null {
  const [, name] =
    /(?:variable )?\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*) is (?:not set|missing|empty)\b/.exec(error) ??
    [];
  return name ?? null;
}
