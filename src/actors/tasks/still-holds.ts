import { createActor, toPromise } from 'xstate';
import type { Task } from '../../machines/domain/task.ts';
import type { Measured } from '../../machines/governance/bounds.ts';
import type { Ruling } from '../../machines/governance/ruling.ts';
import type { ToolCallInput } from '../../machines/governance/tool-call-setup.ts';
import { speakersIn } from '../../machines/task/follow-up.ts';
import { currentCall, ruledTask, type TaskContext } from '../../machines/task/task-input.ts';
import {
  createGovern,
  type GovernPorts,
  type Policies,
  type Policy,
} from '../governance/governance.ts';
import type { Clock } from '../ports/clock.ts';
import type { StoredTask } from '../records/records.ts';
import { restoreTask } from './restore-task.ts';
import type { Sessions } from './sessions.ts';

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
  ports: GovernPorts & { clock: Clock },
): Promise<boolean> {
  const { held } = context;
  const call = currentCall(context);
  const { id: taskId, request, requester, ran } = context.run;
  const speakers = speakersIn(context);
  const task = ruledTask(context.run);
  const asked = { taskId, call, request, requester, speakers, held, task, ran };
  const ruling = await ruledAgain(asked, asCounted(ports));
  return ruling.kind === 'allow' && ruling.call.argsSha256 === call.argsSha256;
}

export interface ReleasePorts extends Omit<GovernPorts, 'policy' | 'scorer'> {
  policies: Policies;
  clock: Clock;
  sessions: Pick<Sessions, 'history'>;
}

/** Time after an approval in which its ruling counts, in milliseconds, while the policy is the same. */
const freshFor = 10_000;

/**
 * Returns why the current policy forbids an approved call that its program did not receive yet; `null` if it does not. A
 * call that would change, or that too few people approved, needs a new request.
 */
export async function refusalAtRelease(
  released: Task,
  { policies, sessions, ...ports }: ReleasePorts,
): Promise<string | null> {
  const { id: taskId, hold, requester, contextId, tags = {}, approved: deferral } = released;
  const { granted, account } = hold ?? {};
  const [request] = released.history;
  if (hold === undefined || request === undefined) return null;
  if (granted === undefined || deferral === undefined || account?.state !== 'granted') return null;
  const { current } = policies;
  const isFresh = ports.clock.now() - account.grantedAt <= freshFor;
  if (isFresh && granted.policySha256 === current.sha256) return null;
  const { callId, ...known } = granted;
  const call = { ...known, id: callId, tool: hold.tool, policySha256: current.sha256 };
  const held = { deferral, isReleased: true };
  const task = ruledTask({ surface: 'hold', contextId, tags, hold });
  const asked = { taskId, call, request, requester, held, task };
  const historyOf = () => sessions.history(released);
  const ruling = await ruledAgain(asked, asCounted({ ...ports, ...current, historyOf }));
  if (ruling.kind === 'allow' && ruling.call.argsSha256 === call.argsSha256) return null;
  return ruling.kind === 'deny' || ruling.kind === 'misfit' ? ruling.text : changedRules;
}

const changedRules =
  'the rules in force no longer allow this call as it was approved; ask again with another key';

/**
 * Skips intent alignment, because the request has not changed since the call was compared with it, and the ledger, because
 * the call counts there already.
 */
function asCounted<Ports extends GovernPorts>({ policy, ...ports }: Ports) {
  const rulesFor: Policy['rulesFor'] = (one, facts) => ({
    ...policy.rulesFor(one, facts),
    judgesIntent: false,
  });
  const nothing: Measured = { limits: [], first: null, reserved: [] };
  const { measure: read = async () => nothing } = ports;
  // What is left of limits is still read for conditions.
  const measure: typeof read = async (asked, signal) =>
    asked.reserves ? nothing : read(asked, signal);
  return { ...ports, measure, policy: { ...policy, rulesFor } };
}

function ruledAgain(
  asked: Omit<ToolCallInput, 'scores' | 'now'>,
  { clock, ...ports }: GovernPorts & { clock: Clock },
): Promise<Ruling> {
  const input = { ...asked, scores: [], now: clock.now() };
  return toPromise(createActor(createGovern(ports), { input }).start());
}
