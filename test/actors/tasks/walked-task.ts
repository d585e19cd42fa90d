import { expect, onTestFinished, vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { createIntentScorer } from '../../../src/actors/governance/alignment/alignment.ts';
import {
  CredentialError,
  type CredentialIssuer,
  createCredentialIssuer,
} from '../../../src/actors/governance/credentials/credentials.ts';
import type { Turn } from '../../../src/actors/ports/model.ts';
import { type Message, taskStates } from '../../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../../src/machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../../src/machines/governance/decision.ts';
import type { TaskLimits } from '../../../src/machines/task/limits.ts';
import type { MessageAnswer } from '../../../src/machines/task/task-events.ts';
import type { TaskContext } from '../../../src/machines/task/task-input.ts';
import { HeldAnswers } from '../../helpers/held-answers.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { prompt } from '../../helpers/patient.ts';
import { briefly, decision, toolCalled } from '../../helpers/system-story.ts';
import { nine, openSystem, type TestSystem, temporaryFolder } from '../../helpers/test-system.ts';

/** How the agent of a walked task is set up. */
export interface WalkedSettings {
  onToolError: 'fail' | 'return';
  limits: Partial<TaskLimits>;
  /** The rest of `security.defer`, and of how `pay` is deferred. */
  defer: object;
  rule: object;
  /** The tools of the calls that the task begins with, without a model; absent for a task of the model. */
  calls?: readonly string[];
  /** True puts the task to rest in the store whenever it waits. */
  rests: boolean;
  /** States that the chart never rests in. */
  passing: readonly string[];
}

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

const withArguments = (tool: string) => ({ tool, args: { amount: 5 } });

/** Returns a message of an anonymous caller. */
export function saying(text: string): Message {
  return { role: 'user', parts: [{ kind: 'text', text }], messageId: text.slice(0, 20) };
}

/**
 * A task in an agent that can start again. Its model, its embedder, the makers of its credentials and its tools answer
 * when the test lets it, and a commit that the task waits for is held back until then.
 */
export class WalkedTask {
  readonly clock = new ManualClock(nine);
  /** Ids of the caller's other tasks that wait. */
  others = new HeldAnswers<string[]>();
  model = new HeldAnswers<Turn>();
  embedder = new HeldAnswers<number[][]>();
  credentials = new HeldAnswers<void>();
  tool = new HeldAnswers<string>();
  commits = new HeldAnswers<void>();
  rig!: TestSystem;
  readonly #directory = temporaryFolder();
  readonly #actors: readonly AnyActorRef[];
  readonly #settings: WalkedSettings;
  #id = '';
  #isHolding = false;
  /** What is answered once it is on disk, and what was. */
  readonly #asked: Promise<unknown>[] = [];
  readonly #expected: string[] = [];
  readonly #answers: string[] = [];
  #hops = 0;

  private constructor(actors: readonly AnyActorRef[], settings: WalkedSettings) {
    this.#actors = actors;
    this.#settings = settings;
    // What takes time takes it by the clock of the test.
    vi.spyOn(performance, 'now').mockImplementation(() => this.clock.now());
  }

  /** Opens a task that asks for its first turn. */
  static async open(actors: readonly AnyActorRef[], settings: WalkedSettings): Promise<WalkedTask> {
    const task = new WalkedTask(actors, settings);
    await task.#start('resume');
    const request = { message: saying('pay Maja five'), requester: null, correlationId: 'c-1' };
    const calls = settings.calls?.map(withArguments);
    task.#id = await task.rig.system.open({ ...request, ...(calls && { calls }) });
    return task;
  }

  get context(): TaskContext {
    return this.#actors.at(-1)?.getSnapshot().context;
  }

  /** The model takes its turn and asks for these tools; for none, it answers. */
  think(...tools: string[]): Promise<void> {
    const calls = tools.map(withArguments);
    return this.model.answer({ text: 'well', calls, inputTokens: 3, outputTokens: 5 });
  }

  /** Moves the clock to a moment of the wait, and fires every timer on the way. */
  reach(moment: 'remindAt' | 'escalateAt' | 'expiresAt'): void {
    this.clock.advance((this.context.deferral?.[moment] ?? 0) - this.clock.now());
  }

  decide(
    verb: DecisionAttempt['verb'],
    answer: DecisionAnswer['kind'],
    more: Partial<DecisionAttempt> = {},
  ): void {
    const attempt = decision(verb, this.clock.now(), { email: 'ann@example.com', ...more });
    const asked = this.rig.system.decide(this.#id, attempt);
    this.#expect(answer, asked);
  }

  say(text: string, answer: MessageAnswer['kind']): void {
    const said = this.rig.system.say(this.#id, { message: saying(text), requester: null });
    this.#expect(
      answer,
      said.then((heard) => heard.answer),
    );
  }

  cancel(): void {
    this.#asked.push(this.rig.system.cancel(this.#id, 'external_signal'));
  }

  leave(): void {
    this.#asked.push(this.rig.system.callerLeft(this.#id));
  }

  /** A request of the task leaves the daemon. */
  hop(): void {
    const scope = { taskId: this.#id, correlationId: 'c-1', tags: {} };
    const hop = { domain: 'api.example.com', mode: 'allowlist', reason: null } as const;
    this.rig.system.egress.record({ scope, ...hop });
    this.#hops += 1;
  }

  async restart(onRestart: 'abandon' | 'resume'): Promise<void> {
    this.#isHolding = false;
    await this.rig.stop();
    await this.#start(onRestart);
  }

  /** Checks in the store, the log and the answers what a chart in this state promises. */
  async look(snapshot: AnyMachineSnapshot): Promise<void> {
    const { rig } = this;
    const events = () => briefly(rig.events(this.#id));
    if (snapshot.hasTag('saving')) {
      const unsaved = snapshot.matches({ working: { executing: 'recording' } }) ? 'end' : 'start';
      expect(events().at(-1)).not.toBe(`tool_exec ${unsaved}`);
      return;
    }
    this.commits.release();
    await Promise.all(this.#asked.splice(0));
    expect(this.#answers).toEqual(this.#expected);
    const state = taskStates.find((one) => snapshot.hasTag(one));
    await vi.waitFor(async () => {
      const stored = await rig.store.rows.read(this.#id);
      expect(stored?.task.state).toBe(state);
      for (const stage of ['reminded', 'escalated'] as const)
        if (snapshot.hasTag(stage)) expect(stored?.task.stage).toBe(stage);
      expect(events().filter((event) => event === 'egress_allowed')).toHaveLength(this.#hops);
    }, prompt);
    const isOver = snapshot.hasTag('final');
    expect(events().filter((event) => event.startsWith('session_end'))).toEqual(
      isOver ? [`session_end ${state}`] : [],
    );
    const rests = state === 'deferred' && this.#settings.rests;
    if (isOver) expect(await rig.verify()).toMatchObject({ ok: true });
    if (rests) {
      this.clock.advance(3_000);
      rig.lookAround();
    }
    if (isOver || rests) expect((await rig.system.metrics.load()).live).toBe(0);
  }

  #expect(kind: string, asked: Promise<{ kind: string }>): void {
    this.#expected.push(kind);
    this.#asked.push(asked.then((answer) => this.#answers.push(answer.kind)));
  }

  async #start(onRestart: 'abandon' | 'resume'): Promise<void> {
    const { onToolError, limits, calls } = this.#settings;
    this.others = new HeldAnswers();
    this.model = new HeldAnswers();
    this.embedder = new HeldAnswers();
    this.credentials = new HeldAnswers();
    this.tool = new HeldAnswers();
    this.commits = new HeldAnswers();
    const { model, embedder, tool, others } = this;
    // Nobody hurts by looking or fetching twice.
    const tools = ['look', 'fetch', 'pay'].map((name) =>
      toolCalled(name, () => tool.ask(), { idempotent: name !== 'pay' }),
    );
    this.rig = await openSystem({
      ...{ directory: this.#directory, clock: this.clock, onRestart, onToolError, limits, tools },
      ...{ security: this.#security(), issuer: this.#issuer() },
      model: { provider: 'scripted', name: 'held', next: () => model.ask() },
      scorer: createIntentScorer({
        embedder: { embed: () => embedder.ask() },
        thresholds: { threshold: 0.5, hardThreshold: 0.3 },
        log: quiet,
      }),
    });
    if (calls !== undefined) {
      vi.spyOn(this.rig.store.rows, 'countWaiting').mockResolvedValue(Infinity);
      vi.spyOn(this.rig.store.rows, 'waitingOf').mockImplementation(() => others.ask());
    }
    this.#holdCommits();
  }

  #security(): object {
    const to = { to: 'channel:console:desk', escalate_to: 'channel:console:managers' };
    const approvers = ['ann@example.com', 'bob@example.com'];
    const pay = { ...to, timeout: '4m', remind: true, approvers, ...this.#settings.rule };
    return {
      intent_alignment: { enabled: true },
      guardrails: {
        enabled: true,
        deny_prompts: [{ pattern: 'launch' }],
        deny_output: [{ pattern: 'codeword', action: 'block' }],
      },
      defer: { enabled: true, tools: { pay }, ...this.#settings.defer },
    };
  }

  #issuer(): CredentialIssuer {
    const { credentials, clock } = this;
    const spec = { env: { KEY: { from_env: 'SHOP_KEY' } } };
    const real = createCredentialIssuer([{ tool: 'fetch', provider: 'static', spec }], {
      env: { SHOP_KEY: 'canary-of-the-shop' },
      clock,
      log: quiet,
    });
    return {
      providerOf: (tool) => real.providerOf(tool),
      issue: async (request) => {
        await credentials.ask().catch(() => {
          throw new CredentialError('the shop gives no key');
        });
        return real.issue(request);
      },
    };
  }

  #holdCommits(): void {
    const { store } = this.rig;
    const { commits } = this;
    const flush = store.flush.bind(store);
    this.#isHolding = true;
    store.flush = async () => {
      const isAwaited = this.#actors.at(-1)?.getSnapshot().hasTag('saving') === true;
      if (this.#isHolding && isAwaited) await commits.ask();
      return flush();
    };
    onTestFinished(() => {
      this.#isHolding = false;
    });
  }
}
