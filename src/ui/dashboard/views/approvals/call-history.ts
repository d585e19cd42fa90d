import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../machines/json.ts';

/** How the wait of an earlier call ended. */
export type PastEnd = 'approved' | 'rejected' | 'timed out' | 'abandoned';

/** An earlier call of the same tool by the same requester. */
export interface PastCall {
  task: string;
  /** RFC 3339. */
  at: string;
  /** `null` while it waits. */
  end: PastEnd | null;
  /** The approver; `null` if no one decided. */
  by: string | null;
}

interface Wait extends PastCall {
  tool: string;
  requester: string;
}

const ends: Record<string, PastEnd> = { timeout: 'timed out', abandoned: 'abandoned' };

/** Reads the earlier calls of a call's tool by its requester from the lines of an agent's log, newest first. */
export function historyOf(
  lines: readonly string[],
  { id, tool, requester }: Pick<DeferralJson, 'id' | 'tool' | 'requester'>,
): PastCall[] {
  const waits = new Map<string, Wait>();
  for (const line of lines) {
    const { event, ts, task_id: task, fields } = objectOf(parseJson(line));
    const [, kind] = /^(?:task|hold)_deferred(?:_(.+))?$/.exec(textOf(event)) ?? [];
    const own = objectOf(fields);
    const key = textOf(own['deferral_id']);
    if (kind === undefined && textOf(event).endsWith('_deferred')) {
      waits.set(key, {
        ...{ task: textOf(task), at: textOf(ts), end: null, by: null },
        ...{ tool: textOf(own['tool']), requester: identityOf(own) },
      });
      continue;
    }
    const wait = waits.get(key);
    if (wait === undefined || kind === undefined || own['authorized'] === false) continue;
    if (kind === 'decision') {
      wait.end = own['decision'] === 'approve' ? 'approved' : 'rejected';
      wait.by = textOf(own['approver']);
    } else if (kind in ends) wait.end = ends[kind] ?? null;
  }
  waits.delete(id);
  const asker = requester === null ? '' : identityOf(requester);
  return [...waits.values()]
    .filter((wait) => wait.tool === tool && wait.requester === asker)
    .map(({ task, at, end, by }) => ({ task, at, end, by }))
    .toReversed();
}

/** Summarises earlier calls: `Requested 12 times before: 9 approved, 3 rejected (by bob).` */
export function historyWords(calls: readonly PastCall[]): string {
  if (calls.length === 0) return 'Not requested before.';
  const times = calls.length === 1 ? 'once' : `${calls.length.toLocaleString('en')} times`;
  const count = (end: PastEnd | null) => calls.filter((call) => call.end === end).length;
  const refusers = new Set(calls.flatMap(({ end, by }) => (end === 'rejected' && by ? [by] : [])));
  const by = refusers.size === 0 ? '' : ` (by ${[...refusers].join(', ')})`;
  const parts = [
    [count('approved'), 'approved'],
    [count('rejected'), `rejected${by}`],
    [count('timed out'), 'timed out'],
    [count('abandoned'), 'abandoned'],
    [count(null), 'still waiting'],
  ].flatMap(([number, words]) => (number === 0 ? [] : [`${number} ${words}`]));
  return `Requested ${times} before: ${parts.join(', ')}.`;
}

/** An anonymous requester is the empty text. */
function identityOf({ provider, user_id: id }: { provider?: unknown; user_id?: unknown }): string {
  return typeof id === 'string' ? JSON.stringify([textOf(provider), id]) : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
