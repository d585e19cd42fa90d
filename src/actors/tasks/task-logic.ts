import { context as traceContext } from '@opentelemetry/api';
import { fromPromise, type PromiseActorLogic, raise } from 'xstate';
import type { TaskFact } from '../../machines/domain/facts.ts';
import type { QuestionAnswer } from '../../machines/domain/question.ts';
import type {
  AcceptedCalls,
  AcceptInput,
  MintInput,
  MintOutcome,
  RunToolInput,
  ThinkInput,
  Thought,
  ToolOutcome,
} from '../../machines/task/task-events.ts';
import type { TaskContext } from '../../machines/task/task-input.ts';
import { taskMachine } from '../../machines/task/task-machine.ts';
import {
  type CredentialIssuer,
  CredentialVault,
  createGovernInForce,
  type Policies,
  screenPrompt,
} from '../governance/governance.ts';
import type { Clock } from '../ports/clock.ts';
import type { EgressScope, ScopedOutbound } from '../ports/egress.ts';
import type { Ids } from '../ports/ids.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Log } from '../ports/log.ts';
import type { LanguageModel } from '../ports/model.ts';
import type { RemoteCalls, Tool, ToolProgress } from '../ports/tool.ts';
import type { AgentEntity } from '../records/records.ts';
import { type AcceptPorts, createAccept } from './effects/accept-calls.ts';
import { createIssueCredential } from './effects/issue-credential.ts';
import { createMeasure } from './effects/measure-call.ts';
import { createRunTool } from './effects/run-tool.ts';
import { createThink } from './effects/think.ts';
import type { LiveTask } from './live-task.ts';
import type { AskedQuestion } from './questions.ts';
import type { Remembering } from './remembering.ts';
import type { Sessions } from './sessions.ts';
import type { Speaker } from './spoken-turn.ts';
import type { WaitingLimit } from './waiting-limit.ts';
import type { Progress } from './watchers.ts';
import { whenReachable } from './when-reachable.ts';

/** Ports of the task chart. */
export interface TaskLogicPorts {
  model: LanguageModel;
  tools: ReadonlyMap<string, Tool>;
  policies: Policies;
  /** Issues the credentials of calls; `null` if no tool has any. */
  issuer: CredentialIssuer | null;
  /** Egress of tools; `null` gives them none. */
  egress: ScopedOutbound | null;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Limits the waiting calls of each caller. */
  waits: WaitingLimit;
  sessions: Pick<Sessions, 'history'>;
  remembering: Pick<Remembering, 'redeem' | 'giveBack'>;
  /** The calls that count for limits, and the effects of calls. */
  ledger: Ledger;
  /** Envelope keys of every audit event of the agent. */
  envelope: AgentEntity;
  /** Calls that other programs continue; `null` if none does. */
  remote?: RemoteCalls | null;
  hasEnded: (id: string) => Promise<boolean>;
  /** Asks people a question of the program that executes a call. */
  ask: (asked: AskedQuestion) => Promise<QuestionAnswer>;
  live: (id: string) => LiveTask;
  onProgress: (id: string, progress: Progress) => void;
  onToolProgress: (id: string, report: ToolProgress) => void;
  /** Starts a model turn for followers of the task. */
  speak: (id: string) => Speaker;
}

/** Binds every port of the task chart; the only place where they are bound. */
export function createTaskLogic(ports: TaskLogicPorts) {
  const { model, tools, policies, issuer, egress, clock, ids, log, live } = ports;
  const { onProgress, onToolProgress, speak, waits, sessions, remembering } = ports;
  const { remote = null, hasEnded } = ports;
  const vault = new CredentialVault();
  const served = beneathRun(ports, { isOwn: true });
  const called = beneathRun(ports, {});
  const ofSession = async <Calls>(
    read: (run: TaskContext['run']) => Promise<Calls>,
    id: string,
    signal: AbortSignal,
  ): Promise<Calls | []> => {
    const { isAlone, actor } = live(id);
    if (isAlone) return [];
    const { run } = actor.getSnapshot().context;
    return whenReachable(() => read(run), { clock, signal });
  };
  const measure = createMeasure({ ...ports, outbound: egress });
  const accepting: AcceptPorts = {
    ids,
    clock,
    tools,
    admit: (id, calls) => waits.admit(live(id).actor.getSnapshot().context.run, calls),
  };
  return taskMachine.provide({
    actors: {
      accept: served(createAccept(accepting)),
      think: served(createThink({ ...accepting, model, log, speak })),
      govern: createGovernInForce(policies, {
        tools,
        ids,
        log,
        attribute: served,
        redeem: (asked) => remembering.redeem(asked),
        giveBack: (grantId) => remembering.giveBack(grantId),
        measure: async (asked, signal) => {
          const measured = await measure(asked, signal);
          if (measured.reserved !== null) live(asked.taskId).reserved(asked.call.id);
          return measured;
        },
        equalTo: (call, signal) => whenReachable(() => ports.ledger.equal(call), { clock, signal }),
        historyOf: (id, signal) => ofSession((run) => sessions.history(run), id, signal),
      }),
      mint: served(createIssueCredential({ issuer, vault, clock, log })),
      runTool: called(
        createRunTool({
          tools,
          policies,
          vault,
          outbound: egress,
          clock,
          log,
          remote,
          ask: ({ taskId, ...asked }) => {
            const { run } = live(taskId).actor.getSnapshot().context;
            return ports.ask({ ...asked, run });
          },
          onDetached: (id, task) => live(id).detached(task),
          hasEnded,
          onWait: (id, wait) => live(id).waits(wait),
          onPhase: (id, phase, tool) => onProgress(id, { phase, tool }),
          onToolProgress,
        }),
      ),
    },
    actions: {
      note: noteWith(live),
      screenPrompt: raise(
        ({ context }) =>
          ({
            type: 'prompt.screened',
            ...screenPrompt(context.run.request, { ...policies.current, log }),
          }) as const,
      ),
      dropCredential: (_, callId: string) => vault.drop(callId),
    },
  });
}

/**
 * The task chart with ports that only record facts. Ends an interrupted task through its own chart, without calling the
 * model, governance or tools again.
 */
export function createIdleTaskLogic(live: (id: string) => LiveTask) {
  const never = () => new Promise<never>(() => undefined);
  return taskMachine.provide({
    actors: {
      accept: fromPromise<AcceptedCalls, AcceptInput>(never),
      think: fromPromise<Thought, ThinkInput>(never),
      mint: fromPromise<MintOutcome, MintInput>(never),
      runTool: fromPromise<ToolOutcome, RunToolInput>(never),
    },
    actions: { note: noteWith(live) },
  });
}

/**
 * Runs an actor's work, and the events it sends, in the span of its task's run. Otherwise the work would belong to the
 * trace that moved the chart, such as the request with the decision.
 */
function beneathRun({ live, egress }: TaskLogicPorts, own: Pick<EgressScope, 'isOwn'>) {
  return <Output, Input extends { taskId: string }>(
    logic: PromiseActorLogic<Output, Input>,
  ): PromiseActorLogic<Output, Input> => ({
    ...logic,
    start(state, scope) {
      const start = (): void => logic.start?.(state, scope);
      if (state.input === undefined) return start();
      const task = live(state.input.taskId);
      const attributed = () =>
        egress === null ? start() : egress.within({ ...task.scope, ...own }, start);
      traceContext.with(task.trace.context, attributed);
    },
  });
}

function noteWith(live: (id: string) => LiveTask) {
  return (
    { context: { run } }: { context: Pick<TaskContext, 'run'> },
    facts: TaskFact | readonly TaskFact[],
  ): void => {
    for (const fact of [facts].flat()) live(run.id).note(fact, run);
  };
}
