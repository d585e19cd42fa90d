import type { Credential } from './credential.ts';

/** Stores credentials by call id from issue until the call runs; never reveals them in output. */
export class CredentialVault {
  readonly #held = new Map<string, Credential>();

  /** Stores the credential of a call; revokes a previous one of the same call. */
  put(callId: string, credential: Credential): void {
    const before = this.#held.get(callId);
    if (before !== credential) before?.revoke();
    this.#held.set(callId, credential);
  }

  /** Removes and returns the credential of a call; the caller must revoke it. */
  take(callId: string): Credential | null {
    const credential = this.#held.get(callId) ?? null;
    this.#held.delete(callId);
    return credential;
  }

  /** Revokes and removes the credential of a call that will not run; does nothing if there is none. */
  drop(callId: string): void {
    this.take(callId)?.revoke();
  }
}
