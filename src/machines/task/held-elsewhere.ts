import type { TaskFact } from '../domain/facts.ts';
import type { GrantedCall, Hold, HoldAccount, HoldOutcome } from '../domain/hold.ts';
import type { CallOutcome, RanCall, Task } from '../domain/task.ts';
import { accountAfter, accountDueAt, type HoldEvent } from '../hold/hold-machine.ts';
import { failedWith, withCallOutcome } from './decided-calls.ts';
import { limitsReturned } from './fact-of.ts';

/** A decided hold after an event, and what the event is in the log. */
export interface HoldStep {
  task: Task;
  facts: TaskFact[];
}

/** Returns the task of a granted hold after an event; `null` if the event changes nothing, or the hold is not granted. */
export function holdAfter(task: Task, event: HoldEvent): HoldStep | null {
  const { hold, approved: _, ...rest } = task;
  if (hold?.granted === undefined || hold.account === undefined) return null;
  const account = accountAfter(hold.account, event);
  if (account === hold.account) return null;
  const { granted } = hold;
  const changed = { ...hold, account };
  const revised = { ...rest, hold: changed, wakeAt: accountDueAt(changed) };
  const fact = factOf(event, granted, changed);
  const facts = [fact, ...returnedBy(fact, task, account)];
  return { task: withEnd(revised, granted, { account, before: hold.account }), facts };
}

/** Returns whether a call was received by another process than the one with this claim. */
export function isReceivedElsewhere(
  { state, claim }: HoldAccount,
  asking: string | undefined,
): boolean {
  return state !== 'granted' && (claim === undefined || claim !== asking);
}

/** Returns whether an outcome is the one that a hold already has. */
export function isSameOutcome(known: HoldOutcome | null, other: HoldOutcome): boolean {
  return (
    known?.status === other.status &&
    known.resultSha256 === other.resultSha256 &&
    known.error === other.error
  );
}

function factOf(
  event: HoldEvent,
  granted: GrantedCall,
  { tool, outcomeWithin, account }: Pick<Hold, 'tool' | 'outcomeWithin' | 'account'>,
): TaskFact {
  const { callId, argsSha256, runsSha256, deferralId } = granted;
  const call = {
    callId,
    ...(deferralId === undefined ? {} : { deferralId }),
    argsSha256,
    ...(runsSha256 === undefined ? {} : { runsSha256 }),
  };
  if (account?.withdrawn !== undefined) {
    return { type: 'hold.withdrawn', call, tool, reason: account.withdrawn.reason };
  }
  switch (event.type) {
    case 'hold.taken':
      return { type: 'hold.released', call, tool };
    case 'hold.closed':
      return { type: 'hold.closed', call, tool, ...event.outcome };
    default:
      return { type: 'hold.unaccounted', call, tool, within: outcomeWithin };
  }
}

/** Reports the limits for which a call that did not run no longer counts. */
function returnedBy(fact: TaskFact, { ran = [] }: Task, account: HoldAccount): TaskFact[] {
  const { withdrawn, outcome } = account;
  if (!('call' in fact) || (withdrawn === undefined && outcome?.status !== 'not_run')) return [];
  const call = ran.find(({ callId }) => callId === fact.call.callId);
  return call === undefined ? [] : limitsReturned(fact.call, call);
}

const neverRan: HoldOutcome = { status: 'not_run' };

/** Records the end of the call in its task: for its session, and for the approver. */
function withEnd(
  task: Task,
  { callId }: GrantedCall,
  { account, before }: { account: HoldAccount; before: HoldAccount },
): Task {
  const { state, withdrawn } = account;
  if (state === 'unaccounted') return withCallOutcome(task, callId, { kind: 'unknown' });
  const outcome = withdrawn === undefined ? account.outcome : neverRan;
  if (outcome === null) return task;
  const { ran = [], ...rest } = task;
  const calls = ran.flatMap((one) => (one.callId === callId ? ended(one, outcome, before) : [one]));
  const ending = { ...rest, ...(calls.length === 0 ? {} : { ran: calls }) };
  return withCallOutcome(ending, callId, callOutcomeOf(outcome));
}

/** A call that its program may have received counts in the history of the session, also if the program denies the run. */
function ended(call: RanCall, { status }: HoldOutcome, { state }: HoldAccount): RanCall[] {
  return state === 'granted' ? [] : [{ ...call, outcome: status }];
}

function callOutcomeOf({ status, error = '' }: HoldOutcome): CallOutcome {
  if (status === 'succeeded') return { kind: 'ran' };
  if (status === 'not_run') return { kind: 'neverRan' };
  return failedWith(error);
}
