import { eventOfWait } from '../../../machines/domain/hold-events.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { isInRange, type TimeRange } from '../../../machines/time-range.ts';
import { csvRow } from './csv-line.ts';
import { fieldsOf, type HashedLine, receiptClaims } from './receipt-claims.ts';
import type { RecordedEvent } from './recorded-event.ts';

/** The columns of a decision, in the order of docs/audit-log.md. */
const decisionColumns = [
  ...['at', 'decision', 'agent', 'tool', 'args', 'approver', 'for', 'as', 'method', 'vouched_by'],
  ...['note', 'requester', 'org_id', 'rule', 'waited_ms', 'outcome', 'ended_at', 'error'],
  ...['task_id', 'call_id', 'args_sha256', 'runs_sha256', 'edited_args_sha256', 'policy_sha256'],
] as const;

/**
 * How a wait ended: a decision of a person, also one that did not count (`refused`), an earlier approval (`granted`), the end
 * of its time (`timed_out`), or of its call (`withdrawn`).
 */
export interface DecidedCall extends JsonObject {
  at: string;
  decision: 'approve' | 'reject' | 'refused' | 'granted' | 'timed_out' | 'withdrawn';
  tool: string;
}

/** Events that end a wait, or are a decision on one. */
const ends = new Map<string, DecidedCall['decision'] | null>([
  ['task_deferred_decision', null],
  ['grant_used', 'granted'],
  ['task_deferred_timeout', 'timed_out'],
  ['task_deferred_abandoned', 'withdrawn'],
  ['hold_withdrawn', 'withdrawn'],
]);

/** True for an event that is a row of the table of decisions. */
export function isDecision({ event }: Pick<RecordedEvent, 'event'>): boolean {
  return ends.has(eventOfWait(event));
}

/** Returns the rows of one task, oldest first, from all its events; only those whose decision is in the range. */
export function decisionsOf(events: readonly RecordedEvent[], range: TimeRange): DecidedCall[] {
  const lines = events.map((line) => ({ line: line as JsonObject, sha256: '' }));
  const known = new Map<string, ReturnType<typeof claimsOf>>();
  return events.flatMap((event): DecidedCall[] => {
    const { call_id: call } = fieldsOf(event);
    if (!isDecision(event) || typeof call !== 'string') return [];
    if (!isInRange(Date.parse(event.ts), range)) return [];
    // A call may have any number of decisions that did not count.
    const { claims, isUnderWay } = known.get(call) ?? claimsOf(lines, call);
    known.set(call, { claims, isUnderWay });
    return claims === null ? [] : [rowOf(event, claims, isUnderWay)];
  });
}

/** Returns the claims of a call; those of one that has not ended are those of its lines so far. */
function claimsOf(lines: readonly HashedLine[], call: string) {
  const ended = receiptClaims(lines, call);
  const end = { line: { event: 'session_end' }, sha256: '' };
  const claims = ended === 'underWay' ? receiptClaims([...lines, end], call) : ended;
  return { claims: typeof claims === 'string' ? null : claims, isUnderWay: ended === 'underWay' };
}

/** Converts a row to CSV with its line break; without one, the header. */
export function decisionCsv(row?: DecidedCall): string {
  return csvRow(row === undefined ? decisionColumns : decisionColumns.map((name) => row[name]));
}

function rowOf(event: RecordedEvent, claims: JsonObject, isUnderWay: boolean): DecidedCall {
  const fields = fieldsOf(event);
  const asked = objectOf(claims['asked']);
  const requester = objectOf(claims['requester']);
  const ran = objectOf(claims['ran']);
  const ruling = lastOf(claims['rulings']);
  const decision = ends.get(eventOfWait(event.event)) ?? decisionIn(fields);
  return present({
    ...{ at: event.ts, decision, agent: claims['agent'], tool: asked['tool'], args: asked['args'] },
    ...{ approver: fields['approver'], for: fields['for'], as: fields['as'] },
    ...{ method: fields['method'], vouched_by: fields['vouched_by'], note: noteIn(fields) },
    ...{ requester: requester['email'] ?? requester['user_id'], org_id: requester['org_id'] },
    ...{ rule: ruling['rule'], waited_ms: fields['wait_ms'] },
    outcome: isUnderWay ? 'under_way' : (ran['outcome'] ?? 'not_run'),
    ...{ ended_at: ran['ended_at'], error: ran['error'], task_id: claims['task_id'] },
    ...{ call_id: claims['call_id'], args_sha256: claims['args_sha256'] },
    runs_sha256: claims['runs_sha256'],
    edited_args_sha256: fields['edited_args_sha256'],
    policy_sha256: fields['policy_sha256'] ?? ruling['policy_sha256'],
  }) as DecidedCall;
}

function decisionIn(fields: JsonObject): DecidedCall['decision'] {
  if (fields['authorized'] === false) return 'refused';
  return fields['decision'] === 'approve' ? 'approve' : 'reject';
}

function noteIn({ note, reason }: JsonObject): JsonValue | undefined {
  return note ?? reason;
}

function lastOf(list: JsonValue | undefined): JsonObject {
  return Array.isArray(list) ? objectOf(list.at(-1)) : {};
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function present(row: Record<string, JsonValue | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(row).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}
