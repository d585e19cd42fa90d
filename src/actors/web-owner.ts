import { hash } from 'node:crypto';
import type { OpenSession } from './ports/web-sessions.ts';

/** Returns the person of a session of the approvals page, as the owner of records. */
export function webOwner({ session: { caller } }: Pick<OpenSession, 'session'>): string {
  return JSON.stringify([caller.provider, caller.orgId ?? '', caller.userId]);
}

/** Returns the digest that stands for a session in other records, which must not contain its id. */
export function sessionDigest({ id }: Pick<OpenSession, 'id'>): string {
  return hash('sha256', id, 'hex');
}
