import { createActor, toPromise } from 'xstate';
import type { LedgerEntry } from '../../machines/domain/ledger.ts';
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

export interface ReleasePorts extends Omit<GovernPorts, 'policy' | 'scorer' | 'measure'> {
  measure: NonNullable<GovernPorts['measure']>;
  policies: Policies;
  clock: Clock;
  sessions: Pick<Sessions, 'history'>;
}

/** Time after an approval in which its ruling counts, in milliseconds, while the policy is the same. */
const freshFor = 10_000;

/** The ruling on an approved call that its program asks for. */
export interface ReleaseRuling {
  /** Why the policy in force forbids the call; `null` if it does not. */
  refusal: string | null;
  /** What the ledger reserved for the call from now on. */
  reserved: readonly LedgerEntry[];
}

const allowed: ReleaseRuling = { refusal: null, reserved: [] };

/**
 * Rules by the current policy on an approved call that its program did not receive yet. A call that would change, or that
 * too few people approved, needs a new request. A call with limits counts from now on.
 */
export async function rulingAtRelease(
  released: Task,
  { policies, sessions, measure, ...ports }: ReleasePorts,
): Promise<ReleaseRuling> {
  const { id: taskId, hold, requester, contextId, tags = {}, approved: deferral } = released;
  const { granted, account } = hold ?? {};
  const [request] = released.history;
  if (hold === undefined || request === undefined) return allowed;
  if (granted === undefined || deferral === undefined || account?.state !== 'granted') {
    return allowed;
  }
  const { current } = policies;
  const isFresh = ports.clock.now() - account.grantedAt <= freshFor;
  const isSame = isFresh && granted.policySha256 === current.sha256;
  if (isSame && !current.policy.isBounded(hold.tool)) return allowed;
  const { callId, ...known } = granted;
  const call = { ...known, id: callId, tool: hold.tool, policySha256: current.sha256 };
  const held = { deferral, isReleased: true };
  const task = ruledTask({ surface: 'hold', contextId, tags, hold });
  const asked = { taskId, call, request, requester, held, task };
  const historyOf = () => sessions.history(released);
  const renewing: GovernPorts['measure'] = (one, signal) =>
    measure({ ...one, ...(one.reserves ? { renews: true } : {}) }, signal);
  const ruling = await ruledAgain(asked, {
    ...withoutIntent({ ...ports, ...current, historyOf }),
    measure: renewing,
  });
  if (ruling.kind === 'allow' && ruling.call.argsSha256 === call.argsSha256) {
    return { refusal: null, reserved: ruling.call.reserved ?? [] };
  }
  const isDenied = ruling.kind === 'deny' || ruling.kind === 'misfit';
  return { refusal: isDenied ? ruling.text : changedRules, reserved: [] };
}

const changedRules =
  'the rules in force no longer allow this call as it was approved; ask again with another key';

/** Skips intent alignment: the request has not changed since the call was compared with it. */
function withoutIntent<Ports extends GovernPorts>({ policy, ...ports }: Ports) {
  const rulesFor: Policy['rulesFor'] = (one, facts) => ({
    ...policy.rulesFor(one, facts),
    judgesIntent: false,
  });
  return { ...ports, policy: { ...policy, rulesFor } };
}

/** Skips the ledger too, because the call counts there already. */
function asCounted<Ports extends GovernPorts>(ports: Ports) {
  const nothing: Measured = { limits: [], first: null, reserved: [] };
  const { measure: read = async () => nothing } = ports;
  // What is left of limits is still read for conditions.
  const measure: typeof read = async (asked, signal) =>
    asked.reserves ? nothing : read(asked, signal);
  return { ...withoutIntent(ports), measure };
}

function ruledAgain(
  asked: Omit<ToolCallInput, 'scores' | 'now'>,
  { clock, ...ports }: GovernPorts & { clock: Clock },
): Promise<Ruling> {
  const input = { ...asked, scores: [], now: clock.now() };
  return toPromise(createActor(createGovern(ports), { input }).start());
}
