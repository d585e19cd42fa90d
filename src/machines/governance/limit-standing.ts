import type { LimitStanding } from '../domain/ledger.ts';
import type { Caller } from '../domain/task.ts';
import { minus } from '../exact-decimal.ts';
import { callerWords } from './caller-name.ts';

/** Returns what is left of a limit, as an exact decimal; negative for a limit that people let calls exceed. */
export function leftOf({
  max,
  used,
  reserved,
}: Pick<LimitStanding, 'max' | 'used' | 'reserved'>): string {
  return minus(minus(max, used), reserved);
}

/** Display text of a value that a call lacks. */
export const lackingValue = '(none)';

/**
 * Returns the values that the key of a limit counts apart, as people read them. The caller has their display name if they
 * are the `requester`.
 */
export function valuesOfKey(
  key: string,
  requester: Pick<Caller, 'provider' | 'userId' | 'email'> | null,
): Record<string, string> {
  const values = JSON.parse(key) as Record<string, KeyValue>;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      name === 'caller' ? callerIn(value, requester) : shown(value),
    ]),
  );
}

/** A value of a key: `null` for none, and a list for a caller or a digest. */
type KeyValue = string | null | readonly string[];

function callerIn(
  value: KeyValue,
  requester: Pick<Caller, 'provider' | 'userId' | 'email'> | null,
): string {
  if (value === null || typeof value === 'string') return shown(value);
  const [provider = '', userId = ''] = value;
  const isRequester = requester?.provider === provider && requester?.userId === userId;
  const caller = isRequester ? requester : { provider, userId };
  return unlike(callerWords(caller) ?? userId);
}

function shown(value: KeyValue): string {
  if (value === null) return lackingValue;
  return unlike(typeof value === 'string' ? value : value.join(':'));
}

/** A value that reads like a lacking one is quoted. */
function unlike(value: string): string {
  return value === lackingValue ? JSON.stringify(value) : value;
}
