import type { JsonObject } from '../json.ts';

/** A user's message to the agent in a thread of a chat. The thread corresponds to a task and its `contextId`. */
export interface ChatMessage {
  adapter: string;
  /** Unique among the messages of the adapter. */
  id: string;
  thread: string;
  text: string;
  from: { id: string; name: string; email: string | null };
  /** Where to reply, in the adapter's own format. */
  ref: JsonObject;
}

/** One message of a thread while it is being answered. */
export interface Turn {
  message: ChatMessage;
  /** The deferral last reported to the thread; `null` if none was. */
  heldId: string | null;
  /** True once the thread was notified that the answer will come later. */
  isLate: boolean;
}

/** The end of a turn's task; `gone` if it is unknown. */
export type TurnEnd =
  | { kind: 'completed'; text: string }
  | { kind: 'failed'; text: string }
  | { kind: 'canceled'; text: string }
  | { kind: 'gone' };

/** The reason why the agent did not accept a message. */
export type Refusal =
  | 'unauthorized'
  | 'assurance'
  | 'admission'
  | 'running'
  | 'tooLong'
  | 'limited'
  | 'unavailable'
  | 'refused';

/** The result of a request to the agent; `running` if the task is running and only followed from now on. */
export type Asked =
  | { kind: 'ended'; end: TurnEnd }
  | { kind: 'running' }
  | { kind: 'refused'; refusal: Refusal; retryAfter: number | null };

/** The status of a message's answer, shown as a mark on the message. */
export type TurnMark = 'working' | 'waiting' | 'done' | 'failed';

/** A message or a mark for a thread. */
export type Utterance = { to: ChatMessage } & (
  | { kind: 'mark'; mark: TurnMark }
  /** `isLast` closes the turn of the message. */
  | { kind: 'say'; markdown: string; isLast: boolean }
);

/** The result of posting to a thread; `isPassing` if a retry may help. */
export type Spoken =
  | { kind: 'delivered' }
  | { kind: 'failed'; isPassing: boolean; retryAfter: number | null; error: unknown };

/** A held call of the task. */
export interface HeldCall {
  /** ID of the deferral. */
  id: string;
  tool: string;
  /** `channel:<adapter>:<target>` */
  to: string;
}
