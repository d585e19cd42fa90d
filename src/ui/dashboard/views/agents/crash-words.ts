/** A possible fix after an agent's crash. */
export type Remedy =
  | { kind: 'variable'; name: string }
  | { kind: 'configuration' }
  | { kind: 'port' }
  | { kind: 'passphrase' }
  | { kind: 'start' }
  | { kind: 'log' };

/** Derives the fix from an agent's last error. */
export function remedyOf(error: string): Remedy {
  const name = missingVariable(error);
  if (name !== null) return { kind: 'variable', name };
  if (/\b(?:service\.yaml|SKILL\.md):\d+:\d+/.test(error)) return { kind: 'configuration' };
  if (/--port\b/.test(error)) return { kind: 'port' };
  if (/\bthe passphrase is wrong\b/.test(error)) return { kind: 'passphrase' };
  if (/\bended without a word\b/.test(error)) return { kind: 'start' };
  return { kind: 'log' };
}

/** Returns the missing variable that prevented the start; `null` if the error names none. */
function missingVariable(error: string): string | null {
  const [, name] =
    /(?:variable )?\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*) is (?:not set|missing|empty)\b/.exec(error) ??
    [];
  return name ?? null;
}
