import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EgressScope } from '../../ports/egress.ts';

/** A connection that is closed with its pass. */
export interface Held {
  destroy(): unknown;
}

/** The credentials of one script run, and its open connections. */
export interface Pass {
  readonly scope: EgressScope;
  readonly user: string;
  readonly password: string;
  readonly held: Set<Held>;
  /** Distinct refusals of the egress policy for this pass. */
  readonly refusals: Set<string>;
}

/** The valid passes. */
export class Passes {
  readonly #passes = new Map<string, Pass>();

  /** Creates a pass with an unguessable user and password. */
  admit(scope: EgressScope): Pass {
    const user = randomBytes(12).toString('base64url');
    const password = randomBytes(24).toString('base64url');
    const pass: Pass = { scope, user, password, held: new Set(), refusals: new Set() };
    this.#passes.set(user, pass);
    return pass;
  }

  /** Invalidates a pass and closes its connections. */
  release(pass: Pass): void {
    this.#passes.delete(pass.user);
    for (const held of pass.held) held.destroy();
    pass.held.clear();
  }

  /** Invalidates every pass. */
  releaseAll(): void {
    for (const pass of this.#passes.values()) this.release(pass);
  }

  /** Returns the pass of a `Proxy-Authorization` header; `null` for none. */
  find(header: string | undefined): Pass | null {
    const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1];
    if (encoded === undefined) return null;
    const credentials = Buffer.from(encoded, 'base64').toString('latin1');
    const colon = credentials.indexOf(':');
    const pass = this.#passes.get(credentials.slice(0, Math.max(colon, 0)));
    if (pass === undefined) return null;
    return isSame(credentials.slice(colon + 1), pass.password) ? pass : null;
  }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
