import { setImmediate } from 'node:timers/promises';
import {
  type ActorRefFrom,
  assign,
  createActor,
  fromPromise,
  raise,
  SimulatedClock,
  type Snapshot,
} from 'xstate';
import type { TaskFact } from '../../src/machines/domain/facts.ts';
import type { Task } from '../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../src/machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../src/machines/governance/decision.ts';
import type { ToolRules } from '../../src/machines/governance/ruling.ts';
import { toolCallMachine } from '../../src/machines/governance/tool-call-machine.ts';
import type { IdentifyInput } from '../../src/machines/governance/tool-call-setup.ts';
import { describeTask } from '../../src/machines/task/describe-task.ts';
import type {
  MintInput,
  MintOutcome,
  RunToolInput,
  TaskEvent,
  ThinkInput,
  Thought,
  ToolOutcome,
} from '../../src/machines/task/task-events.ts';
import type { TaskInput } from '../../src/machines/task/task-input.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { aDeferRule, aTaskInput, runsDigest, saved, times, toolRules } from './task-fixtures.ts';

interface Outputs {
  think: Thought;
  mint: MintOutcome;
  runTool: ToolOutcome;
}

interface Inputs {
  think: ThinkInput;
  mint: MintInput;
  runTool: RunToolInput;
}

type HeldPort = keyof Outputs;

interface Held {
  port: HeldPort;
  signal: AbortSignal;
  resolve: (output: unknown) => void;
}

/** What governance demands of the tools of these stories; any other tool is unknown. */
const knownTools: Record<string, ToolRules> = {
  look_up: toolRules(),
  issue_refund: toolRules({ defer: aDeferRule() }),
};

/**
 * A running task whose ports do nothing until a test lets them end. Time does not advance except when
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
    runTool: [],
  };
  readonly errors: unknown[] = [];
  /** Ids of the calls whose credentials were let go of. */
  readonly dropped: string[] = [];
  readonly actor: ActorRefFrom<typeof taskMachine>;
  readonly #held: Held[] = [];
  #timer: unknown = null;
  #wakeAt: number | null = null;

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
    this.actor.subscribe({
      next: () => this.#watchDeadline(),
      error: (error) => this.errors.push(error),
    });
    this.actor.start();
    this.#watchDeadline();
  }

  /** The public task, as clients receive it. */
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

  /** The port that is waited for, or the disk, if any. */
  get awaited(): HeldPort | 'disk' | null {
    if (this.actor.getSnapshot().hasTag('saving')) return 'disk';
    return this.#held.find(({ signal }) => !signal.aborted)?.port ?? null;
  }

  /** Lets the port that is waited for end, and all that follows from it happen. */
  async finish<Port extends HeldPort>(port: Port, output: Outputs[Port]): Promise<void> {
    this.#release(port).resolve(output);
    await setImmediate();
  }

  /** Lets a call that is recorded as started run and end, up to the step after it. */
  async runsTool(outcome: ToolOutcome): Promise<void> {
    this.send(saved());
    await this.finish('runTool', outcome);
    if (outcome.kind === 'returned') this.send(saved());
  }

  send(event: TaskEvent): void {
    this.actor.send(event);
  }

  /** Puts a decision to the task, and lets what it releases be ruled on again. */
  async decide(attempt: DecisionAttempt): Promise<void> {
    this.clock.set(Math.max(attempt.at, this.clock.now()));
    this.send({ type: 'deferral.decide', attempt });
    await setImmediate();
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
      const { promise, resolve } = Promise.withResolvers<unknown>();
      this.journal.push(port);
      this.inputs[port].push(input);
      this.#held.push({ port, signal, resolve });
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
            consultPolicy: assign(({ context }) => ({
              rules: { ...rulesFor(context.call.tool), took: 0 },
            })),
            modifyCall: assign({ modification: { kind: 'unchanged', took: 0 } }),
          },
          actors: { identify: fromPromise<string, IdentifyInput>(async () => runsDigest) },
        }),
        mint: this.#hold('mint'),
        runTool: this.#hold('runTool'),
      },
      actions: {
        note: (_, facts) => {
          for (const fact of [facts].flat() as TaskFact[]) {
            this.facts.push(fact);
            this.journal.push(`note ${fact.type}`);
          }
        },
        screenPrompt: raise({ type: 'prompt.screened', refusal: null, took: 0 }),
        dropCredential: (_, callId) => void this.dropped.push(callId),
      },
    });
  }

  /** Does what the one scheduler of a daemon does for all tasks. */
  #watchDeadline(): void {
    const { wakeAt } = this.task;
    if (wakeAt === this.#wakeAt) return;
    this.#wakeAt = wakeAt;
    this.clock.clearTimeout(this.#timer as never);
    if (wakeAt === null) return;
    this.#timer = this.clock.setTimeout(() => {
      this.#wakeAt = null;
      this.send({ type: 'deadline.reached', at: this.clock.now() });
    }, wakeAt - this.clock.now());
  }
}

function rulesOfKnownTools(tool: string): ToolRules {
  return (
    knownTools[tool] ?? toolRules({ refusal: { text: `unknown tool: ${tool}`, findings: [] } })
  );
}
