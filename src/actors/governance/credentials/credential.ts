import type { CredentialProvider } from '../../../machines/governance/ruling.ts';

/** What a tool is given for one call; its values show neither in JSON nor when inspected. */
export interface Credential {
  readonly provider: CredentialProvider;
  /** Milliseconds until it expires, counted from when it was issued; `null` when it does not expire. */
  readonly ttl: number | null;
  /** The variables for the tool's environment. Throws a CredentialError once revoked. */
  env(): Record<string, string>;
  /** What must not show in a result or a message of the tool. Throws a CredentialError once revoked. */
  secretValues(): string[];
  /** Drops every value; harmless twice. */
  revoke(): void;
}

/** A failure to provide a credential in words for the caller; holds no value, no cause and no foreign text. */
export class CredentialError extends Error {
  readonly code = 'credential_failed';
}

/** A credential whose values are held in memory until it is revoked. */
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
    // Without the values nothing could be redacted, so a late reader gets an error instead of an empty list.
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
