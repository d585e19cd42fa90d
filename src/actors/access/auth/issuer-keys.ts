import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWK,
  type JWTVerifyGetKey,
  type RemoteJWKSet,
} from 'jose';
import { documentTimeout, fetchDocument } from './fetch-document.ts';
import { keysUrlOf } from './keys-url.ts';
import { ProviderUnavailableError } from './provider-unavailable.ts';
import type { VerifierPorts } from './token-verifier.ts';

/** The source of an issuer's keys, and their maximum age in milliseconds. */
export interface IssuerKeysOptions extends VerifierPorts {
  name: string;
  issuer: string;
  /** URL of the key set; discovered from the issuer when `undefined`. */
  url: string | undefined;
  maximumAge: number;
}

/** Minimum time between two fetches for an unknown key id, which may be a new key, in milliseconds. */
const pauseAfterSuccess = 30_000;
const pauseAfterFailure = 5_000;

/**
 * Finds the key that signed a token. Fetches the key set on first use, one request at a time, and again when the set is
 * too old or a key id is unknown. After a failure the issuer is not contacted for five seconds. Rejects with a
 * ProviderUnavailableError when there is no usable key set.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keySet: Promise<RemoteJWKSet> | null = null;
  #lastUsed: RemoteJWKSet | null = null;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    let keySet: RemoteJWKSet | undefined;
    try {
      keySet = await this.#located();
      this.#lastUsed = keySet;
      return await keySet(header, token);
    } catch (error) {
      if (isAnswer(error)) throw error;
      // The key set may have moved; usable keys are retained.
      if (keySet?.fresh !== true) this.#keySet = null;
      this.#noteFailure(error);
      throw new ProviderUnavailableError('the keys of the issuer are unavailable', {
        cause: error,
      });
    }
  };

  /** Returns the published JWK of a key that `find` has found; `null` for any other key. */
  published(id: string | undefined): JWK | null {
    return this.#lastUsed?.jwks()?.keys.find(({ kid }) => id !== undefined && kid === id) ?? null;
  }

  #located(): Promise<RemoteJWKSet> {
    this.#keySet ??= this.#locate();
    return this.#keySet;
  }

  async #locate(): Promise<RemoteJWKSet> {
    const { url, maximumAge } = this.#options;
    return createRemoteJWKSet(url === undefined ? await this.#discover() : new URL(url), {
      timeoutDuration: documentTimeout,
      cooldownDuration: pauseAfterSuccess,
      cacheMaxAge: maximumAge,
      [customFetch]: this.#fetch,
    });
  }

  /**
   * The issuer may host its keys elsewhere. Such a host is reported as discovered, since the operator has not named it.
   */
  async #discover(): Promise<URL> {
    const { issuer, outbound, place } = this.#options;
    const url = new URL(await keysUrlOf(issuer, this.#fetch));
    if (url.origin !== new URL(issuer).origin) {
      const port = Number(url.port === '' ? 443 : url.port);
      outbound?.discovered?.({ host: url.hostname, port, source: `${place} (discovered)` });
    }
    return url;
  }

  readonly #fetch = async (url: string, options: RequestInit): Promise<Response> => {
    if (this.#isResting()) throw new Error('the issuer failed a moment ago and is left alone');
    return fetchDocument(url, options, this.#options.outbound?.fetch);
  };

  #noteFailure(error: unknown): void {
    if (this.#isResting()) return;
    this.#failedAt = Date.now();
    const { name, log } = this.#options;
    log.warn({ provider: name, error }, 'authentication: the keys of an issuer are unavailable');
  }

  #isResting(): boolean {
    const elapsed = Date.now() - this.#failedAt;
    return elapsed >= 0 && elapsed < pauseAfterFailure;
  }
}

/** Returns whether the key set was available and merely lacked the key. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
