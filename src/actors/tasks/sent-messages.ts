import { isFinal, type Task } from '../../machines/task/task.ts';
import type { Clock, Log } from '../ports.ts';
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

/** Milliseconds after the end of its task for which a message is known again (docs/contract/a2a.md). */
const knownAfterEnd = 5 * 60_000;

/** What knowing messages again needs. */
export interface SentMessagesPorts {
  rows: MessageRows;
  findLive: (id: string) => LiveTask | undefined;
  /** Returns a task as it stands on disk. */
  find: (id: string) => Promise<Task | undefined>;
  store: Pick<TaskStore, 'record'>;
  envelope: AgentEntity;
  clock: Clock;
  log: Log;
}

/** A message as it is known again, with the task that it led to before. */
export interface Recalled extends SentMessage {
  taskId?: string;
}

/** Which message led to which task, also while that is not on disk yet (docs/contract/a2a.md). */
export class SentMessages {
  readonly #ports: SentMessagesPorts;
  readonly #underWay = new Map<string, LiveTask>();
  readonly #taking = new Map<string, Promise<unknown>>();

  constructor(ports: SentMessagesPorts) {
    this.#ports = ports;
  }

  /**
   * Runs `take` with what is known by a key, and returns its answer; of several at once by the same key the next begins
   * when the one before has an answer.
   */
  async inTurn<Answer>(
    key: string,
    recall: () => Promise<Recalled>,
    take: (sent: Recalled) => Promise<Answer>,
  ): Promise<Answer> {
    const before = this.#taking.get(key);
    const taken = (async () => {
      await before?.catch(() => undefined);
      return take(await recall());
    })();
    this.#taking.set(key, taken);
    try {
      return await taken;
    } finally {
      if (this.#taking.get(key) === taken) this.#taking.delete(key);
    }
  }

  /** Does `inTurn` with a message of a sender. A repeat is recorded. */
  recalled<Answer>(said: SaidMessage, take: (sent: Recalled) => Promise<Answer>): Promise<Answer> {
    const { provider, userId, orgId } = said.requester ?? {};
    const key = JSON.stringify([provider, userId, orgId, said.message.messageId]);
    return this.inTurn(key, () => this.recalledAgain(said), take);
  }

  /** Returns the id of the task of a message that is a repeat, which is recorded. */
  async repeated(said: SaidMessage): Promise<string | undefined> {
    return (await this.recalledAgain(said)).taskId;
  }

  /** Does `recall`, and records a repeat. */
  async recalledAgain(said: SaidMessage): Promise<Recalled> {
    const sent = await this.recall(said);
    if (sent.taskId !== undefined) this.#record(said, sent.taskId);
    return sent;
  }

  /**
   * Returns what a message of a sender is known by. One that ended in a step-up comes again with a better token, and is
   * new; so is one whose task ended more than five minutes ago.
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
   * Returns what is known by a key. A task that `isOver` holds for does not count, nor one that begins another run; it is
   * given none before the first save.
   */
  async recallUnless(key: string, isOver: (task: Task | undefined) => boolean): Promise<Recalled> {
    const taskId = await this.#find(key);
    if (taskId === undefined) return { key, supersedes: null };
    const before = this.#ports.findLive(taskId)?.committed ?? null;
    const runsAgain = before !== null && isFinal(before.state);
    const isSuperseded = runsAgain || isOver(await this.#ports.find(taskId));
    return isSuperseded ? { key, supersedes: taskId } : { key, supersedes: null, taskId };
  }

  /** Resolves when what a message led to is on disk. Rejects when it could not be saved. */
  async saved(key: string): Promise<void> {
    await this.#underWay.get(key)?.saved();
  }

  /** Has a task known by a message until that is on disk, or was lost. */
  begin(key: string, task: LiveTask): void {
    this.#underWay.set(key, task);
    const end = (): void => {
      if (this.#underWay.get(key) === task) this.#underWay.delete(key);
    };
    task.saved().then(end, end);
  }

  /** Returns whether a task is where a message belongs, and a message that led to it is known still. */
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
    // One that was let go of may never have been saved.
    const isLive = task !== undefined && this.#ports.findLive(task.id) === task;
    return isLive ? task.id : this.#ports.rows.find(key);
  }
}
