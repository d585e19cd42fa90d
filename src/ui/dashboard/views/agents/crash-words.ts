/** What a person can do about the end of an agent. */
export type Remedy =
  | { kind: 'variable'; name: string }
  | { kind: 'configuration' }
  | { kind: 'port' }
  | { kind: 'passphrase' }
  | { kind: 'start' }
  | { kind: 'log' };

/** Reads off the last words of an agent what can be done about its end. */
export function remedyOf(error: string): Remedy {
  const name = missingVariable(error);
  if (name !== null) return { kind: 'variable', name };
  if (/\b(?:service\.yaml|SKILL\.md):\d+:\d+/.test(error)) return { kind: 'configuration' };
  if (/--port\b/.test(error)) return { kind: 'port' };
  if (/\bthe passphrase is wrong\b/.test(error)) return { kind: 'passphrase' };
  if (/\bended without a word\b/.test(error)) return { kind: 'start' };
  return { kind: 'log' };
}

/** The variable without which an agent did not start; `null` when its words name none. */
function missingVariable(error: string): string | null {
  const [, name] =
    /(?:variable )?\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*) is (?:not set|missing|empty)\b/.exec(error) ??
    [];
  return name ?? null;
}
