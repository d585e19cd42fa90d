import type { Caller, Message, Surface } from '../../machines/task/task.ts';
import type { MessagePlace } from '../records/records.ts';

/** What a caller sends to have a task worked on. */
export interface TaskRequest {
  /** Names a new task, or a final one that is to run again; a new id is made when absent. */
  id?: string;
  contextId?: string;
  message: Message;
  /**
   * True when the id of the message is its sender's own, so that a second one with the same parts is the first again
   * (docs/contract/a2a.md).
   */
  isKnownById?: boolean;
  /** The task and context that the message names. */
  place?: MessagePlace;
  requester: Caller | null;
  correlationId: string;
  /** What every audit event of the run carries besides, such as `workflow_id`. */
  tags?: Record<string, string>;
  /** Where the request stands in a trace, as a W3C `traceparent`; in none when absent. */
  trace?: string | null;
  /** A digest by which other daemons over the store find the task; of two tasks the later one has it. */
  alias?: string;
  /** `legacy` when left out. */
  surface?: Surface;
  /** Hears the id of a task that is there to be followed before its caller is told of it. */
  onBegun?: (id: string) => void;
}

/** A message to a task that is there. */
export type SaidMessage = Pick<TaskRequest, 'message' | 'requester' | 'isKnownById' | 'place'> &
  Partial<Pick<TaskRequest, 'correlationId'>>;
