import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { callerWords } from '../../../../machines/governance/caller-name.ts';
import { isGroup, rightOf } from './approver-words.ts';
import type { InboxFilter, InboxView } from './inbox-address.ts';

/** Maximum number of rows on a page of the list. */
export const rowsOfPage = 100;

/** A row of the list: one call, or all calls of one tool and agent. */
export type InboxRow =
  | { kind: 'call'; key: string; call: DeferralJson }
  | { kind: 'group'; key: string; calls: readonly DeferralJson[]; isEqual: boolean };

/** The values of each filter with their numbers of calls, most calls first. */
export type Facets = Record<FacetName, [value: string, count: number][]> & { mine: number };

export const facetNames = ['agent', 'tool', 'requester', 'group'] as const;
export type FacetName = (typeof facetNames)[number];

/** Identifies a call among those of all agents. */
export function keyOf({ agent_id, id }: Pick<DeferralJson, 'agent_id' | 'id'>): string {
  return `${agent_id} ${id}`;
}

/** Describes the requester of a call. */
export function requesterOf({ requester }: Pick<DeferralJson, 'requester'>): string {
  if (requester === null) return 'anonymous';
  const { provider, user_id: userId, email } = requester;
  return callerWords({ provider, userId, email: email ?? '' }) ?? 'anonymous';
}

/** Returns the calls that a filter leaves, in its order, and the numbers of calls of each value. */
export function sortedOut(
  calls: readonly DeferralJson[],
  { order, text, ...filter }: InboxView,
  email: string,
): { calls: DeferralJson[]; facets: Facets } {
  const words = text.trim().toLowerCase().split(/\s+/);
  const counts = Object.fromEntries(
    facetNames.map((name) => [name, new Map<string, number>()]),
  ) as Record<FacetName, Map<string, number>>;
  let mine = 0;
  const left: DeferralJson[] = [];
  for (const call of calls) {
    const found = textOf(call);
    if (!words.every((word) => found.includes(word))) continue;
    const values = valuesOf(call);
    const isMine = rightOf(call, email) !== 'no';
    const missed = missedBy(filter, values, isMine);
    if (missed.length === 0) left.push(call);
    // A value counts the calls that its choice would show.
    if (missed.every((name) => name === 'mine') && isMine) mine += 1;
    for (const name of facetNames) {
      if (missed.some((one) => one !== name)) continue;
      for (const value of values[name]) {
        counts[name].set(value, (counts[name].get(value) ?? 0) + 1);
      }
    }
  }
  const listed = (name: FacetName) => [...counts[name]].toSorted(byCount);
  return {
    calls: order === 'newest' ? left.toSorted(byRequest) : left,
    facets: {
      agent: listed('agent'),
      tool: listed('tool'),
      requester: listed('requester'),
      group: listed('group'),
      mine,
    },
  };
}

/** Returns the rows of the list; grouped, calls of one tool and agent are one row in place of the first of them. */
export function rowsOf(calls: readonly DeferralJson[], isGrouped: boolean): InboxRow[] {
  const alone = (call: DeferralJson): InboxRow => ({ kind: 'call', key: keyOf(call), call });
  if (!isGrouped) return calls.map(alone);
  const groups = Map.groupBy(calls, ({ agent_id, tool }) => JSON.stringify([agent_id, tool]));
  return [...groups].map(([key, [first, ...others]]): InboxRow => {
    if (first === undefined) throw new Error('a group has a call');
    if (others.length === 0) return alone(first);
    const isEqual = others.every(({ args_sha256: digest }) => digest === first.args_sha256);
    return { kind: 'group', key, calls: [first, ...others], isEqual };
  });
}

/** Returns the page that is shown, from 1, and its rows: the requested page, or the one of the selected call. */
export function pageOf(
  rows: readonly InboxRow[],
  requested: number | null,
  selected: string | null,
): { page: number; pages: number; rows: readonly InboxRow[] } {
  const pages = Math.max(1, Math.ceil(rows.length / rowsOfPage));
  const index = selected === null ? -1 : rows.findIndex((row) => hasCall(row, selected));
  const page = Math.min(pages, requested ?? Math.floor(Math.max(0, index) / rowsOfPage) + 1);
  return { page, pages, rows: rows.slice((page - 1) * rowsOfPage, page * rowsOfPage) };
}

function hasCall(row: InboxRow, key: string): boolean {
  return row.kind === 'call' ? row.key === key : row.calls.some((call) => keyOf(call) === key);
}

type Values = Record<FacetName, readonly string[]>;

function valuesOf(call: DeferralJson): Values {
  const lists = [call.approvers ?? [], ...(call.also_by ?? [])];
  return {
    agent: [call.agent_id],
    tool: [call.tool],
    requester: [requesterOf(call)],
    group: [...new Set(lists.flat().filter(isGroup))],
  };
}

function missedBy(
  filter: Omit<InboxFilter, 'text'>,
  values: Values,
  isMine: boolean,
): (FacetName | 'mine')[] {
  const missed = facetNames.filter(
    (name) => filter[name] !== '' && !values[name].includes(filter[name]),
  );
  return filter.mine && !isMine ? [...missed, 'mine'] : missed;
}

const texts = new WeakMap<DeferralJson, string>();

/** The text that a search reads, cached because each key of the search reads all of them. */
function textOf(call: DeferralJson): string {
  const known = texts.get(call);
  if (known !== undefined) return known;
  const parts = [call.agent_id, call.tool, requesterOf(call), call.title, call.task_id];
  const text = `${parts.join(' ')} ${JSON.stringify(call.args)}`.toLowerCase();
  texts.set(call, text);
  return text;
}

function byCount([one, ones]: [string, number], [other, others]: [string, number]): number {
  return others - ones || (one < other ? -1 : 1);
}

function byRequest(one: DeferralJson, other: DeferralJson): number {
  return Date.parse(other.requested_at) - Date.parse(one.requested_at);
}
