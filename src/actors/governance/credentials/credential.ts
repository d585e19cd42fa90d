import type { CredentialProvider } from '../../../machines/governance/ruling.ts';

/** A credential for one call; JSON and `inspect` output omit its values. */
export interface Credential {
  readonly provider: CredentialProvider;
  /** Milliseconds until it expires, counted from issue; `null` if it does not expire. */
  readonly ttl: number | null;
  /** Variables for the tool's environment. Throws a CredentialError once revoked. */
  env(): Record<string, string>;
  /** Values that must not appear in a result or message of the tool. Throws a CredentialError once revoked. */
  secretValues(): string[];
  /** Drops every value; idempotent. */
  revoke(): void;
}

/** A failure to issue a credential, worded for the caller; contains no value, cause or foreign text. */
export class CredentialError extends Error {
  readonly code = 'credential_failed';
}

/** A credential whose values stay in memory until it is revoked. */
export class HeldCredential implements Credential {
  readonly provider: CredentialProvider;
  readonly ttl: number | null;
  #env: Record<string, string> | null;

  constructor(provider: CredentialProvider, ttl: number | null, env: Record<string, string>) {
    this.provider = provider;
    this.ttl = ttl;
    this.#env = { ...env };
  }

  env(): Record<string, string> {
    return { ...this.#held() };
  }

  secretValues(): string[] {
    // After revocation redaction is impossible, so a late reader gets an error instead of an empty list.
    return [...new Set(Object.values(this.#held()))];
  }

  revoke(): void {
    this.#env = null;
  }

  #held(): Record<string, string> {
    if (this.#env) return this.#env;
    throw new CredentialError('the credential was revoked; issue another one for another call');
  }
}
