import type { Rotation } from './rotation.ts';

/** The content of `people.yaml`. Emails are normalised. */
export interface People {
  /** IANA time zone of times without an offset. */
  zone: string;
  groups: Readonly<Record<string, Group>>;
  oncall: Readonly<Record<string, Rotation>>;
  away: readonly Absence[];
}

/** The members of a group. */
export interface Group {
  members: readonly string[];
  /** The Slack user group whose members belong to it as well; `null` for none. */
  slack: string | null;
}

/** The time in which a person does not decide. Times are epoch milliseconds. */
export interface Absence {
  person: string;
  from: number;
  until: number;
  /** The person who decides meanwhile; `null` for no one. */
  delegate: string | null;
}

/** An agent without `people.yaml`. */
export const nobody: People = { zone: 'UTC', groups: {}, oncall: {}, away: [] };
