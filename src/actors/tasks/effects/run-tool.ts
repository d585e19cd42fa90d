import { hash } from 'node:crypto';
import { fromPromise } from 'xstate';
import type { CallEnd } from '../../../machines/domain/facts.ts';
import { changedSinceApproval } from '../../../machines/domain/finding.ts';
import type { QuestionAnswer } from '../../../machines/domain/question.ts';
import type {
  RemoteTask,
  ResultExtras,
  ToolCall,
  WaitElsewhere,
} from '../../../machines/domain/task.ts';
import type { RunToolInput, ToolOutcome } from '../../../machines/task/task-events.ts';
import { elapsed } from '../../elapsed.ts';
import {
  argsDigest,
  type Credential,
  type CredentialVault,
  type Policies,
  type Policy,
  runsDigest,
} from '../../governance/governance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ToolOutbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import {
  type RemoteCalls,
  type Tool,
  ToolError,
  type ToolProgress,
  type ToolRun,
} from '../../ports/tool.ts';
import { inSpan } from '../../telemetry/telemetry.ts';
import type { AskedQuestion } from '../questions.ts';
import { checkedProgress } from './progress-check.ts';

export interface RunToolPorts {
  tools: ReadonlyMap<string, Tool>;
  policies: Pick<Policies, 'of'>;
  vault: CredentialVault;
  /** Egress of tools; `null` gives them none. */
  outbound: ToolOutbound | null;
  clock: Clock;
  log: Log;
  /** Asks people a question of the program that executes a call. */
  ask: (asked: Omit<AskedQuestion, 'run'> & { taskId: string }) => Promise<QuestionAnswer>;
  /** Calls that other programs continue; `null` if none does. */
  remote: RemoteCalls | null;
  onDetached: (taskId: string, remote: RemoteTask) => void;
  /** Returns whether a task has ended, as opposed to a task that another daemon or the next start continues. */
  hasEnded: (taskId: string) => Promise<boolean>;
  /** Called when a call waits at another program for a person. */
  onWait: (taskId: string, wait: WaitElsewhere | null) => void;
  onPhase: (taskId: string, phase: 'tool_start' | 'tool_end', tool: string) => void;
  /** Receives the progress of a call, after the output rules. */
  onToolProgress: (taskId: string, report: ToolProgress) => void;
}

/** Result of a tool before the output rules. */
type Raw =
  | { kind: 'returned'; text: string; extras: ResultExtras }
  | { kind: 'failed' | 'barred'; text: string; failure: string; isUnknown?: true };

/** What would run differs from what was approved. Not retryable. */
class BarredError extends ToolError {}

/**
 * Creates the `runTool` port. An approved call runs only with exactly the approved arguments, and a call that needs
 * credentials only with those issued for it. A failure of the tool is a regular outcome. Results and errors pass the
 * output rules before they become visible.
 */
export function createRunTool(ports: RunToolPorts) {
  const { vault, clock, onPhase } = ports;
  return fromPromise<ToolOutcome, RunToolInput>(async ({ input, signal }) => {
    const { taskId, call } = input;
    const credential = vault.take(call.id);
    const began = performance.now();
    try {
      onPhase(taskId, 'tool_start', call.tool);
      const waits = new WaitedTime();
      const raw = await attempt(ports, input, credential, { signal, waits });
      const returned = performance.now();
      const checked = await checkedOutcome(ports, call, raw, { credential, signal });
      return {
        ...checked,
        // Excludes the time of waiting for a person.
        duration: Math.round(returned - began - waits.until(returned)),
        checking: elapsed(returned),
        at: clock.now(),
      };
    } finally {
      credential?.revoke();
      onPhase(taskId, 'tool_end', call.tool);
    }
  });
}

/** Measures how long a call has waited elsewhere for a person, in milliseconds. */
class WaitedTime {
  #since: number | null = null;
  #time = 0;

  see(isWaiting: boolean): void {
    const now = performance.now();
    if (isWaiting) this.#since ??= now;
    else {
      this.#time = this.until(now);
      this.#since = null;
    }
  }

  until(now: number): number {
    return this.#time + (this.#since === null ? 0 : now - this.#since);
  }
}

async function attempt(
  ports: RunToolPorts,
  {
    taskId,
    correlationId,
    tags,
    call,
    approvedSha256,
    approvedRuns,
    needsCredential,
  }: RunToolInput,
  credential: Credential | null,
  { signal, waits }: { signal: AbortSignal; waits: WaitedTime },
): Promise<Raw> {
  const { policies, outbound, log, onWait, onToolProgress } = ports;
  const { policy } = policies.of(call);
  try {
    if (approvedSha256 !== null && approvedSha256 !== argsDigest(call.tool, call.args)) {
      throw new BarredError(`the arguments of ${call.tool} are not the ones that were approved`, {
        kind: 'arguments not approved',
      });
    }
    if (call.remote === undefined && needsCredential && credential === null) {
      throw new BarredError(`the credentials of ${call.tool} are missing`, {
        kind: 'credentials missing',
      });
    }
    const run: ToolRun = { taskId, callId: call.id, correlationId, tags, credential, signal };
    run.onDetached = (remote) => ports.onDetached(taskId, remote);
    run.hasEnded = () => ports.hasEnded(taskId);
    const waitsFor = (wait: WaitElsewhere | null): void => {
      waits.see(wait !== null);
      onWait(taskId, wait);
    };
    run.onWait = waitsFor;
    run.ask = (question, until) => {
      const { id: callId, tool } = call;
      return ports.ask({ taskId, callId, tool, question, signal: until, onWait: waitsFor });
    };
    const checking = { policy, tool: call.tool, credential, signal };
    run.onProgress = checkedProgress(checking, (report) => onToolProgress(taskId, report));
    let extras: ResultExtras = {};
    run.onExtras = (come) => {
      extras = come;
    };
    if (outbound !== null) run.outbound = outbound;
    const attributes = {
      'a2a.task.id': taskId,
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.tool,
      'gen_ai.tool.call.id': call.id,
    };
    const result = await inSpan(`execute_tool ${call.tool}`, attributes, () =>
      call.remote === undefined
        ? started(ports, call, run, approvedRuns)
        : followed(ports, call.tool, call.remote, run),
    );
    return { kind: 'returned', text: result.toWellFormed(), extras };
  } catch (error) {
    if (error instanceof ToolError) {
      const kind = error instanceof BarredError ? 'barred' : 'failed';
      const unknown = error.isUnknown ? { isUnknown: true as const } : {};
      return { kind, text: error.message, failure: error.kind, ...unknown };
    }
    log.error({ error, task_id: taskId, tool: call.tool }, 'tool: failed unexpectedly');
    const failure = 'failed inside the service';
    return { kind: 'failed', text: `${call.tool} ${failure}`, failure, isUnknown: true };
  }
}

async function started(
  { tools, policies }: RunToolPorts,
  call: ToolCall,
  run: ToolRun,
  approvedRuns: string | undefined,
): Promise<string> {
  const tool = tools.get(call.tool);
  if (tool === undefined) {
    throw new ToolError(`unknown tool: ${call.tool}`, { kind: 'unknown tool' });
  }
  const { policy } = policies.of(call);
  if (approvedRuns !== undefined) run.confirm = () => confirmed(tool, approvedRuns, policy);
  return tool.run(call.args, run);
}

/** Its approval counted when the call started. */
async function followed(
  { remote }: RunToolPorts,
  tool: string,
  task: RemoteTask,
  run: ToolRun,
): Promise<string> {
  if (remote !== null) return remote.follow(tool, task, run);
  const message = `${tool} had started at a program that is not configured; its outcome is unknown`;
  throw new ToolError(message, { kind: 'not configured', isUnknown: true });
}

/** Rejects with BarredError if what would run differs from what was approved. */
async function confirmed(tool: Tool, approved: string, policy: Policy): Promise<void> {
  if ((await runsDigest(tool, policy)) === approved) return;
  throw new BarredError(changedSinceApproval, { kind: 'changed since approval' });
}

type CheckedOutcome = Pick<ToolOutcome, 'findings' | 'rewrites'> &
  (
    | ({ kind: 'returned'; result: string; resultSha256: string } & ResultExtras)
    | { kind: 'failed' | 'barred'; error: string; failure: string; isUnknown?: true }
    | { kind: 'withheld'; error: string; of?: Exclude<CallEnd, 'succeeded'> }
  );

/** Withholds output that cannot be checked; data that accompanies a string is withheld if a rule changed the text. */
async function checkedOutcome(
  { policies, log }: RunToolPorts,
  call: ToolCall,
  raw: Raw,
  { credential, signal }: { credential: Credential | null; signal: AbortSignal },
): Promise<CheckedOutcome> {
  const { tool } = call;
  try {
    const { policy } = policies.of(call);
    const secrets = credential?.secretValues() ?? [];
    const checked = await policy.checkOutput(tool, raw.text, secrets, signal);
    const { findings, rewrites } = checked;
    if (checked.kind === 'withheld') {
      return { kind: 'withheld', error: checked.reason, ...endBefore(raw), findings, rewrites };
    }
    if (raw.kind !== 'returned') {
      const { kind, text: _, ...failed } = raw;
      return { kind, error: checked.text, ...failed, findings, rewrites };
    }
    const kept = checked.text === raw.text ? raw.extras : {};
    const { text: result } = checked;
    const resultSha256 = hash('sha256', result, 'hex');
    return { kind: raw.kind, result, resultSha256, ...kept, findings, rewrites };
  } catch (error) {
    log.error({ error, tool }, 'governance: the output could not be checked');
    const what = 'the output could not be checked';
    return {
      kind: 'withheld',
      error: `governance failed: ${what}`,
      ...endBefore(raw),
      findings: [{ gate: 'governance', decision: 'block', rule: what }],
      rewrites: [],
    };
  }
}

/** Returns the end of a call whose output is withheld; none if the call succeeded. */
function endBefore(raw: Raw): { of?: Exclude<CallEnd, 'succeeded'> } {
  if (raw.kind === 'returned') return {};
  if (raw.kind === 'barred') return { of: 'not_run' };
  return { of: raw.isUnknown === true ? 'unknown' : 'failed' };
}
