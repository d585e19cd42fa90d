import { readFileSync } from 'node:fs';
import type { Ids } from '../../src/actors/ports/ids.ts';
import { logFilesOf, verdictSentence, verifyFiles } from '../../src/actors/records/records.ts';
import { CallerTasks } from '../../src/http/caller-tasks.ts';
import { presentAnswer, readDecision } from '../../src/http/wire/decision.ts';
import { Problem } from '../../src/http/wire/problem.ts';
import { tenancyOf } from '../../src/http/wire/request-envelope.ts';
import { isStanding, type Task } from '../../src/machines/domain/task.ts';
import { parseDuration } from '../../src/machines/duration.ts';
import { everything } from '../../src/machines/task/task-access.ts';
import { callerOf, emailOf } from './caller-of.ts';
import type { UnderTest } from './open-under-test.ts';
import type { ScriptPlans } from './script-plans.ts';
import { settleTasks } from './settle-tasks.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type {
  AuditLine,
  DecideOptions,
  DecisionReply,
  HeldCall,
  LogVerdict,
  Person,
  SendOptions,
  TestAgent,
  ToolRun,
} from './test-agent.ts';

export interface RunningParts {
  open: () => Promise<UnderTest & AsyncDisposable>;
  time: SimulatedTime;
  ids: Ids;
  plans: ScriptPlans;
  runs: readonly ToolRun[];
  /** Removes the agent's files. */
  remove: () => void;
}

/** Maximum number of listed held calls. */
const mostHeld = 10_000;

/** An agent under test with a running daemon, which can be restarted. */
export class RunningAgent implements TestAgent {
  readonly #parts: RunningParts;
  #opened: UnderTest & AsyncDisposable;

  constructor(opened: UnderTest & AsyncDisposable, parts: RunningParts) {
    this.#opened = opened;
    this.#parts = parts;
  }

  get runs(): readonly ToolRun[] {
    return this.#parts.runs;
  }

  get auditPath(): string {
    return this.#opened.records.path;
  }

  now(): number {
    return this.#parts.time.clock.now();
  }

  async send(text: string, { as, script, ...options }: SendOptions = {}): Promise<Task> {
    const { ids, plans } = this.#parts;
    const messageId = ids.next();
    if (script !== undefined) plans.add(messageId, script);
    const tasks = this.#tasksOf(as);
    const id = await tasks.open({
      ...options,
      message: { role: 'user', parts: [{ kind: 'text', text }], messageId },
      correlationId: ids.next(),
      tags: tenancyOf(callerOf(as, this.#opened)),
    });
    return this.#standing(id);
  }

  task(id: string, { as }: { as?: Person } = {}): Promise<Task | undefined> {
    return this.#tasksOf(as).find(id);
  }

  async held(): Promise<HeldCall[]> {
    const { reads } = this.#opened.system;
    const { tasks } = await reads.list({ state: 'parked', limit: mostHeld }, everything);
    return tasks
      .flatMap(({ id: taskId, deferral, stage }) =>
        deferral === null ? [] : [{ taskId, ...deferral, stage: stage ?? 'asked' }],
      )
      .toSorted((one, other) => one.requestedAt - other.requestedAt);
  }

  async decide(
    id: string,
    decision: 'approve' | 'reject',
    options: DecideOptions = {},
  ): Promise<DecisionReply> {
    const { as, email = emailOf(as), approver, note, deferralId, argsSha256, args } = options;
    const tasks = this.#tasksOf(as);
    const said = { approver, approver_email: email, note };
    const pinned = {
      ...(deferralId === undefined ? {} : { deferral_id: deferralId }),
      ...(argsSha256 === undefined ? {} : { args_sha256: argsSha256 }),
      ...(args === undefined ? {} : { args }),
    };
    try {
      const body = { decision, ...said, ...pinned };
      const attempt = readDecision(body, callerOf(as, this.#opened), this.now());
      const answer = await tasks.decide(id, attempt);
      if (answer.kind === 'resolved') await this.#standing(id);
      const reply = presentAnswer(id, answer);
      return { status: reply.status, body: reply.body };
    } catch (error) {
      if (error instanceof Problem) return { status: error.status, body: error.body };
      throw error;
    }
  }

  cancel(
    id: string,
    { as, reason = 'external_signal' }: { as?: Person; reason?: string } = {},
  ): Promise<Task | undefined> {
    return this.#tasksOf(as).cancel(id, reason);
  }

  async advance(time: number | string): Promise<void> {
    const { time: simulated } = this.#parts;
    const { store } = this.#opened.records;
    const milliseconds = typeof time === 'string' ? parseDuration(time) : time;
    await simulated.advance(milliseconds, () => settleTasks(store, simulated.clock));
  }

  async restart(): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
    this.#opened = await this.#parts.open();
  }

  events(taskId?: string): AuditLine[] {
    const texts = logFilesOf(this.auditPath).map((path) => readFileSync(path, 'utf8'));
    const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '');
    const events = lines.map((line) => JSON.parse(line) as AuditLine);
    return events.filter(({ task_id: id }) => taskId === undefined || id === taskId);
  }

  async verify(): Promise<LogVerdict> {
    const { keys } = this.#opened.records;
    const published = keys.signer === null ? null : keys.published;
    const verdict = await verifyFiles(logFilesOf(this.auditPath), { keys: published });
    return { ok: verdict.ok, text: verdictSentence(verdict) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#opened[Symbol.asyncDispose]();
    } finally {
      this.#parts.remove();
    }
  }

  #tasksOf(person: Person | undefined): CallerTasks {
    const { system, config } = this.#opened;
    const { task_access: taskAccess } = config.server;
    return new CallerTasks({ system, push: null, taskAccess }, callerOf(person, this.#opened));
  }

  /** Resolves with a task once it has ended or waits for a person. */
  #standing(id: string): Promise<Task> {
    return this.#opened.system.watchers.settled(id, new AbortController().signal, isStanding);
  }
}
