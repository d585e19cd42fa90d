import { isFinal, type Task } from '../../machines/domain/task.ts';
import { InOrder } from '../in-order.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import {
  type AgentEntity,
  type MessagePlace,
  type MessageRows,
  messageKeys,
  type SentMessage,
  type TaskStore,
} from '../records/records.ts';
import type { LiveTask } from './live-task.ts';
import type { SaidMessage } from './task-request.ts';

/** Time after a task's end during which its messages are recognised, in milliseconds (docs/contract/a2a.md). */
const knownAfterEnd = 5 * 60_000;

export interface SentMessagesPorts {
  rows: MessageRows;
  findLive: (id: string) => LiveTask | undefined;
  /** Returns a task as stored on disk. */
  find: (id: string) => Promise<Task | undefined>;
  store: Pick<TaskStore, 'record'>;
  envelope: AgentEntity;
  clock: Clock;
  log: Log;
}

/** A recognised message, with its previous task. */
export interface Recalled extends SentMessage {
  taskId?: string;
}

/** Maps messages to their tasks, including uncommitted ones (docs/contract/a2a.md). */
export class SentMessages {
  readonly #ports: SentMessagesPorts;
  readonly #underWay = new Map<string, LiveTask>();
  readonly #taking = new InOrder();

  constructor(ports: SentMessagesPorts) {
    this.#ports = ports;
  }

  /**
   * Runs `take` with the task recalled for a key, and returns its result; operations with the same key run one after
   * the other.
   */
  inTurn<Answer>(
    key: string,
    recall: () => Promise<Recalled>,
    take: (sent: Recalled) => Promise<Answer>,
  ): Promise<Answer> {
    return this.#taking.run(key, async () => take(await recall()));
  }

  /** Runs `inTurn` for a sender's message. A repeat is recorded. */
  recalled<Answer>(said: SaidMessage, take: (sent: Recalled) => Promise<Answer>): Promise<Answer> {
    const { provider, userId, orgId } = said.requester ?? {};
    const key = JSON.stringify([provider, userId, orgId, said.message.messageId]);
    return this.inTurn(key, () => this.recalledAgain(said), take);
  }

  /** Returns the task id if a message is a repeat, and records the repeat. */
  async repeated(said: SaidMessage): Promise<string | undefined> {
    return (await this.recalledAgain(said)).taskId;
  }

  /** Runs `recall`, and records a repeat. */
  async recalledAgain(said: SaidMessage): Promise<Recalled> {
    const sent = await this.recall(said);
    if (sent.taskId !== undefined) this.#record(said, sent.taskId);
    return sent;
  }

  /**
   * Returns the key of a sender's message, and its task if it is a repeat. A message whose task ended in a step-up is
   * new, since it is resent with a stronger token; so is one whose task ended more than five minutes ago.
   */
  async recall({ requester, message, place = {} }: SaidMessage): Promise<Recalled> {
    const [key, ...others] = messageKeys(requester, message, place);
    const first = await this.#find(key);
    if (first !== undefined && (await this.#counts(first, place))) {
      return { key, supersedes: null, taskId: first };
    }
    for (const other of others) {
      const taskId = await this.#find(other);
      if (taskId !== undefined && (await this.#counts(taskId, place))) {
        return { key, supersedes: first ?? null, taskId };
      }
    }
    return { key, supersedes: first ?? null };
  }

  /**
   * Returns the task of a key. A task for which `isOver` returns true does not count, nor does one that runs again;
   * `isOver` receives `undefined` before the first save.
   */
  async recallUnless(key: string, isOver: (task: Task | undefined) => boolean): Promise<Recalled> {
    const taskId = await this.#find(key);
    if (taskId === undefined) return { key, supersedes: null };
    const before = this.#ports.findLive(taskId)?.committed ?? null;
    const runsAgain = before !== null && isFinal(before.state);
    const isSuperseded = runsAgain || isOver(await this.#ports.find(taskId));
    return isSuperseded ? { key, supersedes: taskId } : { key, supersedes: null, taskId };
  }

  /** Resolves when the task of a message is on disk. Rejects if it could not be saved. */
  async saved(key: string): Promise<void> {
    await this.#underWay.get(key)?.saved();
  }

  /** Maps a message to a task until the task is on disk or lost. */
  begin(key: string, task: LiveTask): void {
    this.#underWay.set(key, task);
    const end = (): void => {
      if (this.#underWay.get(key) === task) this.#underWay.delete(key);
    };
    task.saved().then(end, end);
  }

  /** Returns whether a task matches the place named by a message, and its messages are still recognised. */
  async #counts(id: string, { taskId = id, contextId }: MessagePlace): Promise<boolean> {
    if (taskId !== id) return false;
    const task = await this.#ports.find(id);
    const context =
      task?.contextId ?? this.#ports.findLive(id)?.actor.getSnapshot().context.run.contextId;
    if (contextId !== undefined && context !== contextId) return false;
    if (task === undefined || !isFinal(task.state)) return true;
    if (task.failure?.kind === 'stepUp') return false;
    return this.#ports.clock.now() - task.changedAt <= knownAfterEnd;
  }

  #record({ message, correlationId }: SaidMessage, taskId: string): void {
    const { store, envelope, clock, log } = this.#ports;
    const event = {
      ...envelope,
      ts: new Date(clock.now()).toISOString(),
      task_id: taskId,
      ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
      event: 'message_repeated',
      fields: { message_id: message.messageId },
    };
    store.record([event]).catch((error: unknown) => {
      log.error({ error, task_id: taskId }, 'tasks: a repeated message could not be recorded');
    });
  }

  async #find(key: string): Promise<string | undefined> {
    const task = this.#underWay.get(key);
    // An unloaded task may never have been saved.
    const isLive = task !== undefined && this.#ports.findLive(task.id) === task;
    return isLive ? task.id : this.#ports.rows.find(key);
  }
}
