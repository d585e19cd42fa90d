import type { Credential } from './credential.ts';

/** Keeps credentials by call id from when they are issued until their call runs; shows none of them. */
export class CredentialVault {
  readonly #held = new Map<string, Credential>();

  /** Keeps the credential of a call; one that was kept for the same call is revoked. */
  put(callId: string, credential: Credential): void {
    const before = this.#held.get(callId);
    if (before !== credential) before?.revoke();
    this.#held.set(callId, credential);
  }

  /** Hands over the credential of a call, once; the taker then revokes it. */
  take(callId: string): Credential | null {
    const credential = this.#held.get(callId) ?? null;
    this.#held.delete(callId);
    return credential;
  }

  /** Revokes and forgets the credential of a call that will not run; nothing when there is none. */
  drop(callId: string): void {
    this.take(callId)?.revoke();
  }
}
