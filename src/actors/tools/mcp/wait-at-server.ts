import * as z from 'zod';
import type { WaitElsewhere } from '../../../machines/task/task.ts';
import { waitsMark } from '../../../machines/task/wait-mark.ts';
import type { McpSession } from './mcp-session.ts';
import { quoteOf } from './server-fault.ts';

const marked = z.looseObject({
  _meta: z.looseObject({
    task_id: z.string().min(1).max(128),
    [waitsMark]: z.object({ for: z.string(), until: z.iso.datetime().nullable() }).nullable(),
  }),
});

/** Most changes of the wait of one call that are told: each of them is saved with its task. */
const mostChanges = 100;

/** What a server reports of a call that waits for a person there. */
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

  /** Who is asked, by the last report. */
  get said(): string {
    return this.#wait?.for ?? 'a person';
  }

  /** Takes in a progress that the server reports; returns whether it is one of a wait. */
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

  /** Asks the server whether a call that was called off while it waited has certainly not run. Never rejects. */
  async hasNeverRun(session: Pick<McpSession, 'outcomeOf'>): Promise<boolean> {
    if (this.#wait === null || this.#taskId === null) return false;
    return session.outcomeOf(this.#taskId).then(
      ({ ran }) => ran === false,
      () => false,
    );
  }

  /** Tells that the call waits no more. */
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
