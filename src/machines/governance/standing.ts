import { normaliseEmail } from './email.ts';

/**
 * The entries of approver lists that a person fulfils at one moment, such as `group:finance`, `oncall:ops` and
 * `claim:department=legal`, and the people for whom the person may decide.
 */
export interface Standing {
  as: readonly string[];
  /** Those of `as` that a token of the person vouches for; absent for none. */
  byToken?: readonly string[];
  /** People who delegated their decisions to this person; absent for none. */
  for?: readonly Delegator[];
  /** Entries whose members cannot be read now, so that the person may fulfil them; absent for none. */
  unchecked?: readonly string[];
}

/** A person who delegated decisions to another one, with the entries that the person fulfils. */
export interface Delegator {
  email: string;
  as: readonly string[];
}

/** A person as an approver list sees it. */
export interface Listed {
  /** The email that counts as the person's; `null` without one. */
  email: string | null;
  as: readonly string[];
}

/** The kinds of entries that are not emails, each before `:` and a name. */
export const entryKinds = ['group', 'oncall', 'claim'] as const;

export type EntryKind = (typeof entryKinds)[number];

const form = /^(group|oncall|claim):(.+)$/;

/** An entry of an approver list that is not an email. */
export interface NamedEntry {
  kind: EntryKind;
  name: string;
  /** The value that the claim must have; only for a claim. */
  value?: string;
}

/** Reads `group:NAME`, `oncall:NAME` or `claim:NAME=VALUE`; `null` for every other text. */
export function readEntry(entry: string): NamedEntry | null {
  const [, kind, rest = ''] = form.exec(entry.trim()) ?? [];
  const name = rest.trim();
  if (kind === undefined || name === '') return null;
  if (kind !== 'claim') return { kind: kind as EntryKind, name };
  const at = name.indexOf('=');
  const [claim, value] = [name.slice(0, at).trim(), name.slice(at + 1).trim()];
  return at < 1 || claim === '' || value === '' ? null : { kind: 'claim', name: claim, value };
}

/** Returns the form in which an entry is compared; `null` for an entry that can match nobody. */
export function normaliseEntry(entry: string): string | null {
  const read = readEntry(entry);
  if (read === null) return normaliseEmail(entry);
  const { kind, name, value } = read;
  return `${kind}:${name}${value === undefined ? '' : `=${value}`}`;
}

/** Returns true if a person fulfils an entry. */
export function fulfils({ email, as }: Listed, entry: string): boolean {
  const normal = normaliseEmail(email ?? '');
  return (normal !== null && entry === normal) || (readEntry(entry) !== null && as.includes(entry));
}
