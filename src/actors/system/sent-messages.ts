import type { MessageRows } from '../storage/message-rows.ts';
import type { LiveTask } from './live-task.ts';

/** What knowing messages again needs. */
export interface SentMessagesPorts {
  rows: MessageRows;
  find: (id: string) => LiveTask | undefined;
}

/** Which message led to which task, also while that is not on disk yet (5-a2a.md). */
export class SentMessages {
  readonly #ports: SentMessagesPorts;
  readonly #underWay = new Map<string, LiveTask>();

  constructor(ports: SentMessagesPorts) {
    this.#ports = ports;
  }

  /** Returns the id of the task that a message led to. */
  find(key: string): string | undefined {
    const task = this.#underWay.get(key);
    // One that was let go of may never have been saved.
    const isLive = task !== undefined && this.#ports.find(task.id) === task;
    return isLive ? task.id : this.#ports.rows.find(key);
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
}
