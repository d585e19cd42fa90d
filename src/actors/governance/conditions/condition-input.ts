import type { CallOrigin } from '../../../machines/domain/hold.ts';
import type { Caller, RanCall } from '../../../machines/domain/task.ts';

/** The facts of a call besides its arguments, as conditions see them. */
export interface CallFacts {
  requester: Caller | null;
  task: {
    id: string;
    surface: string;
    /** The context of the task. */
    session: string;
    /** Workflow tags. */
    tags: Readonly<Record<string, string>>;
    /** What the program of a hold states of its call; absent for none. */
    call?: CallOrigin;
    /** What is left of the limits that conditions read, as exact decimals; absent before they were read. */
    limits?: Readonly<Record<string, string>>;
  };
  /** Calls that started in the session, oldest first; `null` if unknown. */
  ran: readonly RanCall[] | null;
  /** Epoch milliseconds. */
  now: number;
}
