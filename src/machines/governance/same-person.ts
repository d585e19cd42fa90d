import type { Caller } from '../domain/task.ts';
import { normaliseEmail } from './email.ts';

/** The fields that identify a caller. */
export type PersonKey = Pick<Caller, 'provider' | 'userId' | 'email'>;

/** Returns true if two callers are the same person: the same ID at one provider, or the same email. */
export function isSamePerson(one: PersonKey | null, other: PersonKey | null): boolean {
  if (one === null || other === null) return false;
  if (one.provider === other.provider && one.userId === other.userId) return true;
  return isSameName(one.email, other.email);
}

/**
 * Returns true if two emails or names are equal. Used only to exclude people and to count them, never to grant access,
 * so it also treats similar non-email texts as equal.
 */
export function isSameName(one: string | null | undefined, other: string | null | undefined) {
  const name = foldedName(one);
  return name !== '' && name === foldedName(other);
}

function foldedName(text: string | null | undefined): string {
  return normaliseEmail(text ?? '') ?? (text ?? '').trim().toLowerCase();
}
