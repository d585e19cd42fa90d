/** One event of the daemon's stream, in the format of the Stately inspector. */
export type Inspection = {
  /** Counts the events of a stream, from 1. */
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

/** An event as an actor was sent it, without what is private. */
export interface SentEvent {
  type: string;
  [key: string]: unknown;
}

/** Where an actor stands. */
export interface ShownSnapshot {
  status: string;
  value?: unknown;
  tags?: string[];
}
