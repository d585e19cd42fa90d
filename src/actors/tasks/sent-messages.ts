import type { Caller, Message, Task } from '../../machines/task/task.ts';
import { type MessageRows, messageKey, type SentMessage } from '../records/records.ts';
import type { LiveTask } from './live-task.ts';

/** What knowing messages again needs. */
export interface SentMessagesPorts {
  rows: MessageRows;
  findLive: (id: string) => LiveTask | undefined;
  /** Returns a task as it stands on disk. */
  find: (id: string) => Promise<Task | undefined>;
}

/** A message as it is known again, with the task that it led to before. */
export interface Recalled extends SentMessage {
  taskId?: string;
}

/** Which message led to which task, also while that is not on disk yet (5-a2a.md). */
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

  /** Does `inTurn` with a message of a sender. */
  recalled<Answer>(
    sender: Caller | null,
    message: Message,
    take: (sent: Recalled) => Promise<Answer>,
  ): Promise<Answer> {
    const key = messageKey(sender, message.messageId);
    return this.inTurn(key, () => this.recall(sender, message), take);
  }

  /** Returns what a message of a sender is known by. One that ended in a step-up comes again with a better token, and is new. */
  async recall(sender: Caller | null, { messageId }: Message): Promise<Recalled> {
    const key = messageKey(sender, messageId);
    return this.recallUnless(key, (task) => task?.failure?.kind === 'stepUp');
  }

  /** Returns what is known by a key. A task that `isOver` holds for does not count; it is given none before its first save. */
  async recallUnless(key: string, isOver: (task: Task | undefined) => boolean): Promise<Recalled> {
    const taskId = await this.#find(key);
    if (taskId === undefined) return { key, supersedes: null };
    const isSuperseded = isOver(await this.#ports.find(taskId));
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

  async #find(key: string): Promise<string | undefined> {
    const task = this.#underWay.get(key);
    // One that was let go of may never have been saved.
    const isLive = task !== undefined && this.#ports.findLive(task.id) === task;
    return isLive ? task.id : this.#ports.rows.find(key);
  }
}
