import { createActor, toPromise } from 'xstate';
import type { Ruling } from '../../machines/governance/ruling.ts';
import type { ToolCallInput } from '../../machines/governance/tool-call-setup.ts';
import { speakersIn } from '../../machines/task/follow-up.ts';
import { currentCall, ruledTask, type TaskContext } from '../../machines/task/task-input.ts';
import { createGovern, type GovernPorts, type Policy } from '../governance/governance.ts';
import type { Clock } from '../ports/clock.ts';
import type { StoredTask } from '../records/records.ts';
import { restoreTask } from './restore-task.ts';

/**
 * Returns whether the current policy still holds the call of a parked task unchanged, by running the same chart again.
 * If its tool is missing, the call keeps waiting, since the tool may return, as with the tools of a server.
 */
export async function stillHolds(
  stored: StoredTask,
  { clock, ...ports }: GovernPorts & { clock: Clock },
): Promise<boolean> {
  const { id: taskId, requester, deferral } = stored.task;
  const { pending, run } = restoreTask(stored, ({ context }) => context);
  const call = pending?.at(0);
  if (deferral === null || call === undefined || run === undefined) return true;
  const held = { deferral, isReleased: false };
  const task = ruledTask(run);
  const asked = { taskId, call, request: run.request, requester, held, task, ran: run.ran };
  const ruling = await ruledAgain(asked, { clock, ...ports });
  if (ruling.kind === 'misfit') return true;
  return ruling.kind === 'defer' && ruling.deferral.id === deferral.id;
}

/**
 * Returns whether a call that had started before a restart may run again: the current policy still allows it unchanged,
 * and what would run is what was approved. A call that did not need an approval must not need one now.
 */
export async function mayRepeat(
  context: TaskContext,
  { policy, ...ports }: GovernPorts & { clock: Clock },
): Promise<boolean> {
  const { held } = context;
  const call = currentCall(context);
  const { id: taskId, request, requester, ran } = context.run;
  const speakers = speakersIn(context);
  const task = ruledTask(context.run);
  const asked = { taskId, call, request, requester, speakers, held, task, ran };
  // Intent alignment is skipped: the request has not changed since the call was compared with it.
  const rulesFor: Policy['rulesFor'] = (one, facts) => ({
    ...policy.rulesFor(one, facts),
    judgesIntent: false,
  });
  const ruling = await ruledAgain(asked, { ...ports, policy: { ...policy, rulesFor } });
  return ruling.kind === 'allow' && ruling.call.argsSha256 === call.argsSha256;
}

function ruledAgain(
  asked: Omit<ToolCallInput, 'scores' | 'now'>,
  { clock, ...ports }: GovernPorts & { clock: Clock },
): Promise<Ruling> {
  const input = { ...asked, scores: [], now: clock.now() };
  return toPromise(createActor(createGovern(ports), { input }).start());
}
