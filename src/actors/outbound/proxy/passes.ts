import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EgressScope } from '../../ports.ts';

/** A connection that ends with its pass. */
export interface Held {
  destroy(): unknown;
}

/** What one run of a script signs in with, and what it has open. */
export interface Pass {
  readonly scope: EgressScope;
  readonly user: string;
  readonly password: string;
  readonly held: Set<Held>;
  /** What the egress policy said of the hosts that it refused to it, each once. */
  readonly refusals: Set<string>;
}

/** The passes that are valid now. */
export class Passes {
  readonly #passes = new Map<string, Pass>();

  /** Makes a pass whose user and password nobody can guess. */
  admit(scope: EgressScope): Pass {
    const user = randomBytes(12).toString('base64url');
    const password = randomBytes(24).toString('base64url');
    const pass: Pass = { scope, user, password, held: new Set(), refusals: new Set() };
    this.#passes.set(user, pass);
    return pass;
  }

  /** Makes a pass void and ends what is open on it. */
  release(pass: Pass): void {
    this.#passes.delete(pass.user);
    for (const held of pass.held) held.destroy();
    pass.held.clear();
  }

  /** Makes every pass void. */
  releaseAll(): void {
    for (const pass of this.#passes.values()) this.release(pass);
  }

  /** Finds the pass that a `Proxy-Authorization` header names; `null` when it names none. */
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
