/** Response of `GET /approvals/api/session`. */
export interface SessionJson {
  agent_id: string;
  /** Name for display; unverified. */
  name: string;
  /** The verified email; `null` without one. */
  email: string | null;
  /** Sent with each change in `X-Holdpoint-CSRF`. */
  csrf: string;
  expires_at: string;
}

/** Response of `POST /approvals/api/sign-out`. */
export interface SignedOutJson {
  /** Where the issuer ends its own session; `null` if it has no such place. */
  to: string | null;
}
