import type { TaskFact } from '../domain/facts.ts';
import type { GrantedCall, Hold } from '../domain/hold.ts';
import type { Deferral } from '../domain/task.ts';
import { legible } from '../legible.ts';
import { withStart } from './ran-calls.ts';
import { approvedDigest, currentCall, type TaskContext, type TaskRun } from './task-input.ts';

/**
 * Returns the context changes when the call of a hold may run: its program runs it, so the run ends here. A call that
 * needed no approval counts as received, because its program waits for this answer.
 */
export function grantHold(context: TaskContext): Partial<TaskContext> {
  const call = currentCall(context);
  const { hold, ...run } = withStart(context, call, context.now);
  if (hold === undefined) return {};
  const isApproved = approvedDigest(context) !== null;
  const granted: GrantedCall = {
    callId: call.id,
    args: call.args,
    argsSha256: call.argsSha256,
    ...(call.asked === undefined ? {} : { asked: call.asked }),
    ...(hold.runsSha256 === undefined ? {} : { runsSha256: hold.runsSha256 }),
    ...(call.policySha256 === undefined ? {} : { policySha256: call.policySha256 }),
    ...(isApproved ? { deferralId: call.id } : {}),
  };
  const { now: grantedAt } = context;
  const account: Hold['account'] = isApproved
    ? { state: 'granted', grantedAt, releasedAt: null, outcome: null }
    : {
        ...{ state: 'released', grantedAt, releasedAt: grantedAt, outcome: null },
        ...(hold.claim === undefined ? {} : { claim: hold.claim }),
      };
  return { run: { ...run, hold: { ...hold, granted, account } }, pending: [] };
}

/**
 * Returns the deferral of a call in a run. For a hold, approvers see what the program states of the call; without a model, a rejection and a
 * timeout end the run.
 */
export function deferralOf({ hold }: Pick<TaskRun, 'hold'>, deferral: Deferral): Deferral {
  return hold === undefined ? deferral : deferralOfHold(hold, deferral);
}

/** Returns a fact of a ruling as it is in a run. */
export function factInRun(run: Pick<TaskRun, 'hold'>, fact: TaskFact): TaskFact {
  if (fact.type !== 'deferral.opened') return fact;
  return { ...fact, deferral: deferralOf(run, fact.deferral) };
}

function deferralOfHold(hold: Hold, { onTimeout: _, context, ...deferral }: Deferral): Deferral {
  const { agent, session, subject, context: facts } = hold;
  const stated = Object.entries({ agent, session, subject, context: facts }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`${name}=${legible(JSON.stringify(value))}`]),
  );
  return { ...deferral, context: [context, ...stated].join('\n'), onReject: 'fail' };
}
