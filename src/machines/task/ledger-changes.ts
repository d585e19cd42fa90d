import type { LedgerChange, LedgerEnd } from '../domain/ledger.ts';
import type { Exchange, RanCall, Task } from '../domain/task.ts';
import { ranInRun } from './ran-calls.ts';

/** A task, and the call whose start is on disk but not its end. */
export interface LedgerVersion {
  task: Task;
  startedCall: string | null;
  /** The calls of the run that ended, with their results; absent if they are not known. */
  exchanges?: readonly Exchange[];
}

type EndedCall = Extract<LedgerChange, { type: 'ended' }>;

/** Maximum length of a result that later calls can join, in UTF-16 units. */
const longestResult = 65_536;

/**
 * Returns what a change of a task changes in the ledger: the calls that may run from now on, and those that ended; `null`
 * for no earlier version.
 */
export function ledgerChanges(before: LedgerVersion | null, after: LedgerVersion): LedgerChange[] {
  if (before !== null && isSame(before, after)) return [];
  const known = new Map(ranInRun(before?.task ?? {}).map((one) => [one.callId, one]));
  const now = ranInRun(after.task);
  const changes = now.flatMap((call): LedgerChange[] => {
    const earlier = known.get(call.callId);
    const end = endOf(call, after);
    const isOver = earlier !== undefined && before !== null && endOf(earlier, before) === end;
    return [
      ...(earlier === undefined ? [startOf(call)] : []),
      ...(end === null || isOver
        ? []
        : endedAs(call, end, isOpen(earlier, before)).map((one) => withResult(one, call, after))),
    ];
  });
  // A task may omit calls of earlier runs; it omits a call that was running only if the call did not run.
  const left = new Set((after.task.ran ?? []).map(({ callId }) => callId));
  const gone = [...known.values()].filter(
    (call) => !left.has(call.callId) && before !== null && endOf(call, before) === null,
  );
  return [...changes, ...gone.flatMap((call) => endedAs(call, 'not_run', false))];
}

/** Most changes of a task leave its calls as they are. */
function isSame(before: LedgerVersion, after: LedgerVersion): boolean {
  return (
    before.task.ran === after.task.ran &&
    before.startedCall === after.startedCall &&
    before.task.hold?.account === after.task.hold?.account
  );
}

function startOf({ callId, tool, argsSha256, at, reserved, approver }: RanCall): LedgerChange {
  const released = approver === undefined ? {} : { approver };
  const call = { callId, tool, argsSha256, at };
  return { type: 'started', ...call, entries: reserved ?? [], ...released };
}

/** The end of a call that adds to nothing matters only if it did not run, or while its outcome is unknown. */
function endedAs(
  { callId, tool, argsSha256, reserved }: RanCall,
  end: LedgerEnd,
  wasUnknown: boolean,
): EndedCall[] {
  if (reserved === undefined && (end === 'succeeded' || end === 'failed') && !wasUnknown) return [];
  const late = wasUnknown ? { wasUnknown } : {};
  return [{ type: 'ended', callId, tool, argsSha256, end, ...late }];
}

/** Adds the result of a call that later calls can join; not one that rules of a session must know by its labels. */
function withResult(
  change: EndedCall,
  { callId, reserved = [], labels = [] }: RanCall,
  { exchanges = [] }: LedgerVersion,
): EndedCall {
  const isJoinable = reserved.some((entry) => entry.kind === 'effect' && entry.joins === true);
  const exchange = isJoinable ? exchanges.findLast(({ call }) => call.id === callId) : undefined;
  if (exchange === undefined || exchange.failed === true || labels.length > 0) return change;
  const { result } = exchange;
  return result.length > longestResult ? change : { ...change, result };
}

function isOpen(call: RanCall | undefined, version: LedgerVersion | null): boolean {
  return call !== undefined && version !== null && endOf(call, version) === 'unknown';
}

/** Returns how a call ended; `null` while it runs, or may still be received. */
function endOf(
  { callId, outcome, of: withheld }: RanCall,
  { task, startedCall }: LedgerVersion,
): LedgerEnd | null {
  const { account } = task.hold ?? {};
  if (account !== undefined) {
    const ends = { closed: account.outcome?.status ?? null, withdrawn: 'not_run' } as const;
    if (account.state === 'unaccounted') return 'unknown';
    return account.state === 'closed' || account.state === 'withdrawn' ? ends[account.state] : null;
  }
  if (callId === startedCall) return null;
  return outcome === 'withheld' ? (withheld ?? 'succeeded') : outcome;
}
