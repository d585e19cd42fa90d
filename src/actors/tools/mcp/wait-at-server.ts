import * as z from 'zod';
import type { WaitElsewhere } from '../../../machines/domain/task.ts';
import { waitsMark } from '../../../machines/task/wait-mark.ts';
import type { McpSession } from './mcp-session.ts';
import { quoteOf } from './server-fault.ts';

const marked = z.looseObject({
  _meta: z.looseObject({
    task_id: z.string().min(1).max(128),
    [waitsMark]: z.object({ for: z.string(), until: z.iso.datetime().nullable() }).nullable(),
  }),
});

/** Maximum wait changes reported for one call: each one is saved with its task. */
const mostChanges = 100;

/** A call's wait for a person at its server, as reported by the server. */
export class WaitAtServer {
  readonly #server: string;
  readonly #onWait: ((wait: WaitElsewhere | null) => void) | undefined;
  #taskId: string | null = null;
  #wait: WaitElsewhere | null = null;
  #changes = 0;

  constructor(server: string, onWait: ((wait: WaitElsewhere | null) => void) | undefined) {
    this.#server = server;
    this.#onWait = onWait;
  }

  /** The approvers named in the last report. */
  get said(): string {
    return this.#wait?.for ?? 'a person';
  }

  /** Processes a progress report; returns whether it concerns a wait. */
  hear(said: object): boolean {
    const read = marked.safeParse(said);
    if (!read.success) return false;
    const { task_id: taskId, [waitsMark]: wait } = read.data._meta;
    this.#taskId = taskId;
    const until = wait === null || wait.until === null ? {} : { until: wait.until };
    if (this.#changes < mostChanges) {
      this.#tell(wait === null ? null : { at: this.#server, for: quoteOf(wait.for), ...until });
    }
    return true;
  }

  /** Asks the server whether a call cancelled during its wait has certainly not run. Never rejects. */
  async hasNeverRun(session: Pick<McpSession, 'outcomeOf'>): Promise<boolean> {
    if (this.#wait === null || this.#taskId === null) return false;
    return session.outcomeOf(this.#taskId).then(
      ({ ran }) => ran === false,
      () => false,
    );
  }

  /** Reports the end of the wait. */
  end(): void {
    if (this.#wait !== null) this.#tell(null);
  }

  #tell(wait: WaitElsewhere | null): void {
    if (JSON.stringify(wait) === JSON.stringify(this.#wait)) return;
    this.#wait = wait;
    this.#changes += 1;
    this.#onWait?.(wait);
  }
}
