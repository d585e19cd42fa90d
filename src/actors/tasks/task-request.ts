import type { HoldRequest } from '../../machines/domain/hold.ts';
import type { Caller, Message, Surface, ToolCall } from '../../machines/domain/task.ts';
import type { JsonObject } from '../../machines/json.ts';
import type { MessagePlace } from '../records/records.ts';

/** A call as requested by its caller. */
export interface AskedCall {
  tool: string;
  args: JsonObject;
}

/** A caller's request to work on a message. */
export interface TaskRequest {
  /** Id of a new task, or of a final one to run again; generated when absent. */
  id?: string;
  contextId?: string;
  message: Message;
  /** The calls of a run without a model, at least one; absent for a run of the model. */
  calls?: (AskedCall & Pick<ToolCall, 'runsSha256'>)[];
  /** The hold of the only call of `calls`, which another program runs; absent for calls that run here. */
  hold?: HoldRequest;
  /**
   * True if the sender chose the message id, so that a second message with the same id and parts is a repeat
   * (docs/contract/a2a.md).
   */
  isKnownById?: boolean;
  /** Task and context named by the message. */
  place?: MessagePlace;
  requester: Caller | null;
  correlationId: string;
  /** Additional keys of every audit event of the run, such as `workflow_id`. */
  tags?: Record<string, string>;
  /** Trace of the request as a W3C `traceparent`; absent for none. */
  trace?: string | null;
  /**
   * A digest by which other daemons over the store find the task; of two tasks with the same alias the later one wins.
   */
  alias?: string;
  /** `legacy` by default. */
  surface?: Surface;
}

/** A message to an existing task. */
export type SaidMessage = Pick<TaskRequest, 'message' | 'requester' | 'isKnownById' | 'place'> &
  Partial<Pick<TaskRequest, 'correlationId'>>;
