import type { OpenSession, WebSession } from './web-sessions.ts';

/** A value for a cookie, encrypted by the daemon. */
export interface SealedCookie {
  value: string;
  /** Seconds until it expires. */
  seconds: number;
}

/** The start of a sign-in: where the browser goes, and what it keeps meanwhile. */
export type SignInStart =
  | { kind: 'started'; url: string; cookie: SealedCookie }
  | { kind: 'refused'; problem: string };

/** The end of a sign-in; `place` is that of its start. A problem is one sentence without provider text. */
export type SignInEnd =
  | { kind: 'signedIn'; session: WebSession; cookie: SealedCookie; place: string | null }
  | { kind: 'refused'; problem: string };

/** `ended`: the issuer refuses the person; `unchecked`: it does not answer. */
export type Confirmation =
  | { kind: 'confirmed'; open: OpenSession }
  | { kind: 'ended' }
  | { kind: 'unchecked' };

/** Signs people in with a browser, and keeps their sessions (docs/contract/approvals-page.md). */
export interface WebAccess {
  /** Origin at which browsers open the page. */
  readonly origin: string;
  /**
   * Starts a sign-in. `place` is where the page is to open at its end; the browser keeps it encrypted. `session` is the
   * cookie of the browser's session, which ends when the sign-in succeeds.
   */
  start(place: string | null, session: string | null): Promise<SignInStart>;
  /** Ends the sign-in that `cookie` started, with the query of the callback. */
  finish(query: string, cookie: string | null): Promise<SignInEnd>;
  /** Returns the session of a cookie; `null` for one that is forged, idle, expired or signed out. */
  find(cookie: string | null): Promise<OpenSession | null>;
  /**
   * Has the issuer confirm the person of a session, with the groups and claims of this moment, unless it did in the last
   * minute. A person whom the issuer refuses has no session any more.
   */
  confirm(open: OpenSession): Promise<Confirmation>;
  /** Returns a session; `null` for one that has expired or was signed out. */
  read(id: string): Promise<OpenSession | null>;
  /** Returns the cookie of a session whose idle time starts again. */
  renew(open: OpenSession): Promise<SealedCookie>;
  /** Ends a session at every daemon; returns the sign-out URL of the issuer, `null` if there is none. */
  end(open: OpenSession): Promise<string | null>;
}
