import { decimalWords } from '../decimal-words.ts';
import { parseDuration } from '../duration.ts';
import { oneLine } from '../legible.ts';
import { callerWords } from './caller-name.ts';
import { lackingValue } from './limit-standing.ts';

type Amount = number | string;

/** The parts of a limit that its words need, as clients read them; an agent of another release may omit some. */
export interface ShownLimit {
  name?: string | undefined;
  by?: Readonly<Record<string, string | undefined>> | undefined;
  /** `null` where the period is not shown. */
  period?: ShownPeriod | null | undefined;
  max?: Amount | undefined;
  used?: Amount | undefined;
  reserved?: Amount | undefined;
}

interface ShownPeriod {
  rolling?: string | undefined;
  calendar?: string | undefined;
  zone?: string | undefined;
}

/** What a call adds to a limit. */
export interface ShownAmount {
  amount?: Amount | null | undefined;
  over?: boolean | undefined;
}

/** The parts of the earlier call that its words need, as clients read them. */
export interface ShownFirst {
  key?: string | undefined;
  requested_by?: ShownRequester | null | undefined;
  at?: string | undefined;
  released_by?: string | null | undefined;
  outcome?: string | undefined;
}

interface ShownRequester {
  user_id: string;
  email?: string | null | undefined;
  provider?: string | undefined;
}

/** Returns a limit with the caller, tool or other value that it counts apart. */
export function limitName({ name = '', by = {} }: ShownLimit): string {
  const values = Object.entries(by).map(([key, value]) => valueWords(key, value ?? null));
  const whose = values.length === 0 ? '' : ` for ${values.join(', ')}`;
  return `${oneLine(name)}${whose}`;
}

/** Describes a value that a limit counts apart, such as `caller ann@example.com`. */
function valueWords(key: string, value: string | null): string {
  const lacking = value === lackingValue ? lackingWords[key] : undefined;
  return lacking ?? `${oneLine(key)} ${oneLine(value)}`;
}

/** The calls that lack a value. */
const lackingWords: Readonly<Record<string, string>> = {
  caller: 'anonymous callers',
  org: 'callers without an organization',
  session: 'calls without a session',
};

/** Returns the standing of a limit, such as `4,200 of 5,000 used today, 300 reserved`. */
export function usedWords({ max = 0, used = 0, reserved = 0, period = {} }: ShownLimit): string {
  const running = Number(reserved) === 0 ? '' : `, ${decimalWords(reserved)} reserved`;
  const spent = `${decimalWords(used)} of ${decimalWords(max)} used`;
  return `${spent}${period === null ? '' : ` ${periodWords(period)}`}${running}`;
}

/** Returns what a call adds to a limit, in one sentence. */
export function addedWords({ amount = null, over = false }: ShownAmount): string {
  if (amount === null) {
    return 'What this call adds cannot be measured, so it counts as over the limit.';
  }
  return `This call adds ${decimalWords(amount)}${over ? ' and is over the limit' : ''}.`;
}

/** Describes a limit that applies to a held call. */
export function measuredWords(limit: ShownLimit & ShownAmount): string {
  return `Limit ${limitName(limit)}: ${usedWords(limit)}. ${addedWords(limit)}`;
}

/** Describes the earlier call with the same effect. */
export function firstWords({
  key = '',
  requested_by: by,
  at = '',
  released_by: approver = null,
  outcome = '',
}: ShownFirst): string {
  const approved = approver === null ? '' : `, approved by ${oneLine(approver)}`;
  const who = firstRequester(by);
  return `The same effect, ${oneLine(key)}, was requested by ${who} at ${oneLine(at)}${approved}. ${outcomeWords(outcome)}.`;
}

/** Returns the display text for the requester of an earlier call; `undefined` if the reader may not know the person. */
export function firstRequester(by: ShownRequester | null | undefined): string {
  if (by === undefined) return 'another caller';
  if (by === null) return 'an anonymous caller';
  const { provider = '', user_id: userId, email } = by;
  const name = callerWords({ provider, userId, email: email ?? '' });
  return oneLine(name, 'an anonymous caller');
}

/** Describes the outcome of an earlier call. */
export function outcomeWords(outcome: string): string {
  return outcomes[outcome] ?? `Its outcome is ${oneLine(outcome)}`;
}

const outcomes: Readonly<Record<string, string>> = {
  running: 'That call is running',
  succeeded: 'That call succeeded',
  unknown: 'Nobody knows the outcome of that call',
};

const calendarWords: Readonly<Record<string, string>> = {
  day: 'today',
  week: 'this week',
  month: 'this month',
};

/** Returns how long a limit counts, such as `in 24 h` or `a day (Europe/Berlin)`. */
export function perWords({ rolling, calendar = '', zone = '' }: ShownPeriod): string {
  return rolling === undefined
    ? `a ${oneLine(calendar)} (${oneLine(zone)})`
    : `in ${durationWords(rolling)}`;
}

/** Returns the words of a period, such as `today` or `in the last 24 h`. */
function periodWords({ rolling, calendar }: ShownPeriod): string {
  if (rolling === undefined) return calendarWords[calendar ?? ''] ?? 'in this period';
  return `in the last ${durationWords(rolling)}`;
}

const units = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** Returns a duration such as `24h0m0s` in one unit, such as `24 h` or `30 days`. */
export function durationWords(text: string): string {
  const time = milliseconds(text);
  if (time === 86_400_000) return '24 h';
  const [unit, name] = units.find(([one]) => time >= one && time % one === 0) ?? [0, ''];
  return unit === 0 ? oneLine(text) : `${time / unit} ${name}`;
}

function milliseconds(text: string): number {
  try {
    return parseDuration(text, Number.MAX_SAFE_INTEGER);
  } catch {
    return 0;
  }
}
