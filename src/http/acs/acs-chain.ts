import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AcsSession } from '../../actors/ports/acs-sessions.ts';

/** An entry of the chain of a session, without its hashes. */
export interface ChainEntry {
  entry_id: string;
  step_id: string;
  step_type: string;
  request_hash: string;
  timestamp: string;
  turn_id?: string;
}

/** Number of latest heads that a client may name, since its steps may run in parallel. */
const knownHeads = 32;

/** Returns the hash of an entry after the entry with `previous`; `null` for the first entry. */
function entryHash(entry: ChainEntry, previous: string | null): string {
  const before = previous === null ? Buffer.alloc(0) : Buffer.from(previous, 'hex');
  const content = Buffer.from(canonicalize(entry) ?? '');
  return hash('sha256', Buffer.concat([content, before]), 'hex');
}

/** Appends an entry to the chain of a session. */
export function withEntry(
  session: AcsSession,
  step: Omit<ChainEntry, 'entry_id'>,
): { session: AcsSession; entry: ChainEntry; hash: string; previous: string | null } {
  const [previous = null] = session.heads;
  const entries = session.entries + 1;
  const entry = { entry_id: String(entries), ...step };
  const head = entryHash(entry, previous);
  const heads = [head, ...session.heads].slice(0, knownHeads);
  return { session: { ...session, heads, entries }, entry, hash: head, previous };
}
