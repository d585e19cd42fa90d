import type { JsonObject } from '../json.ts';

/** What somebody said to the agent in a thread of a chat; the thread is a task and its `contextId`. */
export interface ChatMessage {
  adapter: string;
  /** Unique among what was said over the adapter. */
  id: string;
  thread: string;
  text: string;
  from: { id: string; name: string; email: string | null };
  /** Where to answer, in the words of the adapter. */
  ref: JsonObject;
}

/** One message of a thread on its way to its answer. */
export interface Turn {
  message: ChatMessage;
  /** The deferral that the thread was told of last; `null` before any. */
  heldId: string | null;
  /** True once the thread was told that the answer comes later. */
  isLate: boolean;
}

/** How the task of a turn ended; `gone` when nobody knows any more. */
export type TurnEnd =
  | { kind: 'completed'; text: string }
  | { kind: 'failed'; text: string }
  | { kind: 'canceled'; text: string }
  | { kind: 'gone' };

/** Why the agent's surface did not take a message. */
export type Refusal =
  | 'unauthorized'
  | 'assurance'
  | 'admission'
  | 'running'
  | 'tooLong'
  | 'limited'
  | 'unavailable'
  | 'refused';

/** What came of asking the agent; `running` when the task is at work and is only followed from now on. */
export type Asked =
  | { kind: 'ended'; end: TurnEnd }
  | { kind: 'running' }
  | { kind: 'refused'; refusal: Refusal; retryAfter: number | null };

/** How the answer to a message stands, shown beside the message. */
export type TurnMark = 'working' | 'waiting' | 'done' | 'failed';

/** A message or a mark for a thread. */
export type Utterance = { to: ChatMessage } & (
  | { kind: 'mark'; mark: TurnMark }
  /** `isLast` closes the turn of the message. */
  | { kind: 'say'; markdown: string; isLast: boolean }
);

/** What came of putting something into a thread; `isPassing` when another try may help. */
export type Spoken =
  | { kind: 'delivered' }
  | { kind: 'failed'; isPassing: boolean; retryAfter: number | null; error: unknown };

/** A call of the task that waits for a release. */
export interface HeldCall {
  /** The deferral's. */
  id: string;
  tool: string;
  /** `channel:<adapter>:<target>` */
  to: string;
}
