import { hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
import type { Clock } from '../../ports/clock.ts';

/** Time for which one key encrypts cookies, in milliseconds. */
const rotation = 86_400_000;

const encryption = { alg: 'dir', enc: 'A256GCM' } as const;

/** The purpose of a cookie; a cookie of one purpose is invalid for another. */
export type CookiePurpose = 'sign-in' | 'session' | 'claims';

/**
 * Encrypts the cookies of one origin. All daemons over one store have the same key, from which a new one is derived each
 * day.
 */
export class SealedCookies {
  readonly #origin: string;
  readonly #key: () => Promise<Buffer>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(origin: string, key: () => Promise<Buffer>, clock: Pick<Clock, 'now'>) {
    this.#origin = origin;
    this.#key = key;
    this.#clock = clock;
  }

  /** Encrypts values that expire after a lifetime in milliseconds. */
  async seal(purpose: CookiePurpose, values: JWTPayload, lifetime: number): Promise<string> {
    const now = this.#clock.now();
    const day = Math.floor(now / rotation);
    return new EncryptJWT(values)
      .setProtectedHeader({ ...encryption, kid: String(day) })
      .setExpirationTime(new Date(now + lifetime))
      .encrypt(await this.#keyOf(purpose, day));
  }

  /**
   * Returns the values of a cookie; `null` if it is forged, expired, or of another purpose. `lifetime` is the longest
   * lifetime of such a cookie; older keys decrypt nothing.
   */
  async open(purpose: CookiePurpose, cookie: string, lifetime: number): Promise<JWTPayload | null> {
    const now = this.#clock.now();
    const oldest = Math.floor((now - lifetime) / rotation);
    try {
      const { payload } = await jwtDecrypt(
        cookie,
        ({ kid = '' }) => {
          const day = /^\d{1,9}$/.test(kid) ? Number(kid) : -1;
          const isKnown = day >= oldest && day <= Math.floor(now / rotation) + 1;
          if (!isKnown) throw new errors.JWEDecryptionFailed();
          return this.#keyOf(purpose, day);
        },
        {
          currentDate: new Date(now),
          keyManagementAlgorithms: [encryption.alg],
          contentEncryptionAlgorithms: [encryption.enc],
          requiredClaims: ['exp'],
        },
      );
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  async #keyOf(purpose: CookiePurpose, day: number): Promise<Uint8Array> {
    const info = ['holdpoint', purpose, day].join(' ');
    return new Uint8Array(hkdfSync('sha256', await this.#key(), this.#origin, info, 32));
  }
}
