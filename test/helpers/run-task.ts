import { setImmediate } from 'node:timers/promises';
import {
  type ActorRefFrom,
  assign,
  createActor,
  fromCallback,
  fromPromise,
  SimulatedClock,
  type Snapshot,
} from 'xstate';
import type { DecisionAttempt } from '../../src/machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../src/machines/governance/decision.ts';
import type { ToolRules } from '../../src/machines/governance/ruling.ts';
import { toolCallMachine } from '../../src/machines/governance/tool-call-machine.ts';
import { describeTask } from '../../src/machines/task/describe-task.ts';
import type { TaskFact } from '../../src/machines/task/facts.ts';
import type { Task, ToolCall } from '../../src/machines/task/task.ts';
import type {
  MintInput,
  MintOutcome,
  RecordedStart,
  RunToolInput,
  TaskEvent,
  ThinkInput,
  Thought,
  ToolOutcome,
} from '../../src/machines/task/task-events.ts';
import type { TaskInput } from '../../src/machines/task/task-input.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { aDeferRule, aTaskInput, times, toolRules } from './task-fixtures.ts';

interface Outputs {
  think: Thought;
  mint: MintOutcome;
  recordStart: RecordedStart;
  runTool: ToolOutcome;
  recordEnd: void;
}

interface Inputs {
  think: ThinkInput;
  mint: MintInput;
  recordStart: { taskId: string; call: ToolCall };
  runTool: RunToolInput;
  recordEnd: { taskId: string };
}

type HeldPort = keyof Outputs;

interface Held {
  port: HeldPort;
  signal: AbortSignal;
  resolve: (output: unknown) => void;
  reject: (error: Error) => void;
}

/** What governance demands of the tools of these stories; any other tool is unknown. */
const knownTools: Record<string, ToolRules> = {
  look_up: toolRules(),
  issue_refund: toolRules({ defer: aDeferRule() }),
};

/**
 * A running task whose ports do nothing until a test lets them end. Time stands still except when
 * a test moves the clock.
 */
export class TaskRun {
  readonly clock = new SimulatedClock();
  readonly facts: TaskFact[] = [];
  readonly answers: DecisionAnswer[] = [];
  /** Everything asked of the outside, in the order asked: `note <fact>`, `<port>` and `aborted <port>`. */
  readonly journal: string[] = [];
  readonly inputs: { [Port in HeldPort]: Inputs[Port][] } = {
    think: [],
    mint: [],
    recordStart: [],
    runTool: [],
    recordEnd: [],
  };
  readonly errors: unknown[] = [];
  /** Ids of the calls whose credentials were let go of. */
  readonly dropped: string[] = [];
  readonly actor: ActorRefFrom<typeof taskMachine>;
  readonly #held: Held[] = [];

  constructor(
    options: {
      input?: Partial<TaskInput>;
      snapshot?: Snapshot<unknown>;
      rulesFor?: (tool: string) => ToolRules;
      now?: number;
    } = {},
  ) {
    const { input, snapshot, rulesFor = rulesOfKnownTools, now = times.created } = options;
    this.clock.set(now);
    this.actor = createActor(this.#logic(rulesFor), {
      input: aTaskInput(input),
      ...(snapshot === undefined ? {} : { snapshot }),
    });
    this.actor.on('decision.answered', ({ answer }) => this.answers.push(answer));
    this.actor.subscribe({ error: (error) => this.errors.push(error) });
    this.actor.start();
  }

  /** The public task, as the outside would be told. */
  get task(): Task {
    return describeTask(this.actor.getSnapshot(), this.clock.now(), 1, null);
  }

  /** The innermost state. */
  get state(): string {
    let value: unknown = this.actor.getSnapshot().value;
    while (typeof value === 'object' && value !== null) value = Object.values(value)[0];
    return String(value);
  }

  /** The facts of some kinds, in order. */
  factsOf<Type extends TaskFact['type']>(...types: Type[]): Extract<TaskFact, { type: Type }>[] {
    const wanted: string[] = types;
    return this.facts.filter((fact): fact is Extract<TaskFact, { type: Type }> =>
      wanted.includes(fact.type),
    );
  }

  /** The port that is waited for, if any. */
  get awaited(): HeldPort | null {
    return this.#held.find(({ signal }) => !signal.aborted)?.port ?? null;
  }

  /** Lets the port that is waited for end, and all that follows from it happen. */
  async finish<Port extends HeldPort>(port: Port, output: Outputs[Port]): Promise<void> {
    this.#release(port).resolve(output);
    await setImmediate();
  }

  /** Lets the port that is waited for break. */
  async breaks(port: HeldPort, error: Error): Promise<void> {
    this.#release(port).reject(error);
    await setImmediate();
  }

  /** Lets a call that is recorded as started run and end, up to the step after it. */
  async runsTool(outcome: ToolOutcome): Promise<void> {
    await this.finish('recordStart', { standing: 'first', at: times.began });
    await this.finish('runTool', outcome);
    if (outcome.kind === 'returned') await this.finish('recordEnd', undefined);
  }

  send(event: TaskEvent): void {
    this.actor.send(event);
  }

  decide(attempt: DecisionAttempt): void {
    this.clock.set(Math.max(attempt.at, this.clock.now()));
    this.send({ type: 'deferral.decide', attempt });
  }

  /** The snapshot as a store would give it back. */
  stored(): Snapshot<unknown> {
    return JSON.parse(JSON.stringify(this.actor.getPersistedSnapshot()));
  }

  #release(port: HeldPort): Held {
    const index = this.#held.findIndex((held) => held.port === port);
    const [held] = index === -1 ? [] : this.#held.splice(index, 1);
    if (held === undefined) {
      throw new Error(`${port} is not waited for; the task is in ${this.state}`);
    }
    return held;
  }

  #hold<Port extends HeldPort>(port: Port) {
    return fromPromise<Outputs[Port], Inputs[Port]>(({ input, signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      this.journal.push(port);
      this.inputs[port].push(input);
      this.#held.push({ port, signal, resolve, reject });
      signal.addEventListener('abort', () => this.journal.push(`aborted ${port}`));
      return promise as Promise<Outputs[Port]>;
    });
  }

  #logic(rulesFor: (tool: string) => ToolRules): typeof taskMachine {
    return taskMachine.provide({
      actors: {
        think: this.#hold('think'),
        govern: toolCallMachine.provide({
          actions: {
            consultPolicy: assign(({ context }) => ({ rules: rulesFor(context.call.tool) })),
            modifyCall: assign({ modification: { kind: 'unchanged' } }),
          },
        }),
        mint: this.#hold('mint'),
        recordStart: this.#hold('recordStart'),
        runTool: this.#hold('runTool'),
        recordEnd: this.#hold('recordEnd'),
        deadline: this.#deadline(),
      },
      actions: {
        note: (_, facts) => {
          for (const fact of [facts].flat() as TaskFact[]) {
            this.facts.push(fact);
            this.journal.push(`note ${fact.type}`);
          }
        },
        dropCredential: (_, callId) => void this.dropped.push(callId),
      },
    });
  }

  #deadline() {
    return fromCallback<{ type: 'none' }, { at: number }>(({ input, sendBack }) => {
      const reached = (): void =>
        sendBack({ type: 'deadline.reached', at: this.clock.now() } satisfies TaskEvent);
      const timer = this.clock.setTimeout(reached, input.at - this.clock.now());
      return () => this.clock.clearTimeout(timer);
    });
  }
}

function rulesOfKnownTools(tool: string): ToolRules {
  return (
    knownTools[tool] ?? toolRules({ refusal: { text: `unknown tool: ${tool}`, findings: [] } })
  );
}
