import type { Caller } from '../task/task.ts';
import { normaliseEmail } from './email.ts';

/** What tells one caller from another. */
export type PersonKey = Pick<Caller, 'provider' | 'userId' | 'email'>;

/** Tells whether two callers are one person: by the id that one provider gives them, or by one email. */
export function isSamePerson(one: PersonKey | null, other: PersonKey | null): boolean {
  if (one === null || other === null) return false;
  if (one.provider === other.provider && one.userId === other.userId) return true;
  return isSameName(one.email, other.email);
}

/**
 * Tells whether two emails or names are one. It is asked to exclude people and to count them, never to let anybody
 * in, so it also knows two texts that are alike without being emails.
 */
export function isSameName(one: string | null | undefined, other: string | null | undefined) {
  const name = foldedName(one);
  return name !== '' && name === foldedName(other);
}

function foldedName(text: string | null | undefined): string {
  return normaliseEmail(text ?? '') ?? (text ?? '').trim().toLowerCase();
}
