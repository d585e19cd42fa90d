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
  /** When the issuer confirmed the caller last; absent for the sign-in. */
  checkedAt?: number;
  /** What reads the claims of the caller again, encrypted; absent if the issuer gave nothing for that. */
  renewal?: string;
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
  /** Replaces a session unless it has been deleted. */
  replace(id: string, session: WebSession): Promise<void>;
  delete(id: string): Promise<void>;
}
