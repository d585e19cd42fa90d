import type { Caller, Message, Task } from '../../machines/task/task.ts';
import { type MessageRows, messageKey, type SentMessage } from '../records/records.ts';
import type { LiveTask } from './live-task.ts';

/** What knowing messages again needs. */
export interface SentMessagesPorts {
  rows: MessageRows;
  findLive: (id: string) => LiveTask | undefined;
  /** Returns a task as it stands on disk. */
  find: (id: string) => Task | undefined;
}

/** A message as it is known again, with the task that it led to before. */
export interface Recalled extends SentMessage {
  taskId?: string;
}

/** Which message led to which task, also while that is not on disk yet (5-a2a.md). */
export class SentMessages {
  readonly #ports: SentMessagesPorts;
  readonly #underWay = new Map<string, LiveTask>();

  constructor(ports: SentMessagesPorts) {
    this.#ports = ports;
  }

  /** Returns what a message of a sender is known by. One that ended in a step-up comes again with a better token, and is new. */
  recall(sender: Caller | null, { messageId }: Message): Recalled {
    const key = messageKey(sender, messageId);
    const taskId = this.#find(key);
    if (taskId === undefined) return { key, supersedes: null };
    const isRefused = this.#ports.find(taskId)?.failure?.kind === 'stepUp';
    return isRefused ? { key, supersedes: taskId } : { key, supersedes: null, taskId };
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

  #find(key: string): string | undefined {
    const task = this.#underWay.get(key);
    // One that was let go of may never have been saved.
    const isLive = task !== undefined && this.#ports.findLive(task.id) === task;
    return isLive ? task.id : this.#ports.rows.find(key);
  }
}
