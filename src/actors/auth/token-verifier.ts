import type { Verification } from '../ports.ts';

/** One provider of the authentication chain. */
export interface TokenVerifier {
  /** Judges a bearer token; `null` when it is none of this provider's. Never rejects. */
  verify(token: string): Promise<Verification | null>;
}
