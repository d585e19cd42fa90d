import type { Caller } from '../../machines/domain/task.ts';

/** A person who has signed in to the page of the daemon. */
export interface WebSession {
  caller: Caller;
  /** Name for display; unverified. */
  name: string;
  /** Value that each change on the page sends in a header. */
  csrf: string;
  /** Epoch milliseconds. */
  signedInAt: number;
  expiresAt: number;
}

/** A session that has not ended. */
export interface OpenSession {
  id: string;
  session: WebSession;
}

/** Sessions of the page, shared by all daemons over one store. A deleted session is refused by each of them. */
export interface WebSessions {
  /** Stores a new session, and deletes those that have expired at `now`, in epoch milliseconds. */
  add(id: string, session: WebSession, now: number): Promise<void>;
  find(id: string): Promise<WebSession | undefined>;
  delete(id: string): Promise<void>;
}
