import type { Compaction } from '../../machines/domain/compaction.ts';
import type {
  CutReason,
  Exchange,
  FollowUp,
  Message,
  RanCall,
  SaidPart,
  SaidTurn,
} from '../../machines/domain/task.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { FailedModelCall } from '../../machines/task/task-events.ts';

/** Input of a model for one turn. */
export interface Conversation {
  taskId: string;
  /** Earlier messages of the task, oldest first. */
  history: Message[];
  /** The message that started this run. */
  request: Message;
  /** Calls that have started in earlier runs and this one, oldest first; absent for none. */
  ran?: RanCall[];
  /** Completed tool calls of this run, oldest first. */
  exchanges: Exchange[];
  /** The model's turns that requested those calls, oldest first; a call that no turn contains is a turn of its own. */
  said: SaidTurn[];
  /** Messages sent while calls of this run were held, oldest first; each follows the first `after` exchanges. */
  followUps: FollowUp[];
  /** Completed model turns of this run. */
  turns: number;
  /** Number of exchanges included in earlier turns, along with the messages up to them; all exchanges when absent. */
  told?: number;
  /** Ratio of the provider's token count to the estimate; 1 when absent. */
  tokensPerEstimate?: number;
}

/** One turn of a model: tool calls, or the answer if there are none. */
export interface Turn {
  text: string;
  /** Models may produce any value as arguments; governance denies values that are not objects. */
  calls: AskedCall[];
  /** The provider's reason for ending the turn, verbatim; absent if it gives none. */
  finishReason?: string;
  /** Why the provider truncated the turn; absent for a complete one. */
  cut?: CutReason;
  /** The parts of the turn in order, with provider data that must be sent back; absent if unknown. */
  parts?: SaidPart[];
  inputTokens: number;
  outputTokens: number;
  /** Input tokens estimated before the call; absent without an estimate. */
  estimatedTokens?: number;
  /** The provider's name for the model that answered; absent if it gives none. */
  answeredBy?: string;
  /** The model that answered if there are several; the requested one when absent. */
  by?: ModelCall;
}

/** A call as requested by the model. */
export interface AskedCall {
  tool: string;
  args: JsonValue;
  /** The JSON text of `args` as received, possibly malformed; absent if it was received parsed. */
  written?: string;
}

/** One call to a model; `duration` in milliseconds. */
export interface ModelCall {
  provider: string;
  model: string;
  /** Digest of the endpoint; absent if there is none. */
  endpoint?: string;
  duration: number;
}

/** Receives the events of a turn while it runs. */
export interface ModelListener {
  /** Receives the text as it arrives. */
  onToken: (text: string) => void;
  /** Receives each failed call, with its reason worded for the caller. */
  onFailedCall?: (call: FailedModelCall) => void;
  /** Receives the parts of the conversation that are omitted to stay within the model's budget. */
  onCompacted?: (compaction: Compaction) => void;
}

/** A model behind one provider. */
export interface LanguageModel {
  readonly provider: string;
  readonly name: string;
  /** Runs one turn. Rejects with a ModelError, whose message is shown to the caller, or with the signal's reason. */
  next(conversation: Conversation, options: ModelListener & { signal: AbortSignal }): Promise<Turn>;
}

/** A failure of a model, worded for the caller; any other error of a model is a bug. */
export class ModelError extends Error {
  readonly code = 'model_failed';
}
