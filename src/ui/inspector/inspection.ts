/** One event of the daemon's stream in the format of the Stately inspector. */
export type Inspection = {
  /** Number of the event in its stream, from 1. */
  id: string;
  rootId: string;
  sessionId: string;
  /** Epoch milliseconds. */
  createdAt: string;
} & (
  | { type: '@xstate.actor'; name: string; parentId?: string | undefined; definition: string }
  | { type: '@xstate.event'; sourceId?: string | undefined; event: SentEvent }
  | { type: '@xstate.snapshot'; event: SentEvent; snapshot: ShownSnapshot }
);

/** An event sent to an actor, without private data. */
export interface SentEvent {
  type: string;
  [key: string]: unknown;
}

/** An actor's current state. */
export interface ShownSnapshot {
  status: string;
  value?: unknown;
  tags?: string[];
}
