import { createActor, toPromise } from 'xstate';
import type { Ruling } from '../../machines/governance/ruling.ts';
import { createGovern, type GovernPorts } from '../governance/governance.ts';
import type { Clock } from '../ports.ts';
import type { StoredTask } from '../records/records.ts';
import { restoreTask } from './restore-task.ts';

/**
 * Tells whether the policy in force still holds the call of a parked task, unchanged. It runs the chart that ruled
 * before. A tool that is not there may come back, as that of a server does, so its call waits on.
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
  const asked = { taskId, call, request: run.request, requester, held };
  const actor = createActor(createGovern(ports), {
    input: { ...asked, scores: [], now: clock.now() },
  }).start();
  const ruling: Ruling = await toPromise(actor);
  if (ruling.kind === 'misfit') return true;
  return ruling.kind === 'defer' && ruling.deferral.id === deferral.id;
}
