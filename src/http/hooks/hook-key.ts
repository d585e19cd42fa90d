import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { newTaskIdForm } from '../../machines/task/task-id.ts';
import type { HookCall, HookOutcome } from './hook-event.ts';

/**
 * Returns the key of the hold of a call: the same for a hook that runs again for the same call. A call without an id is
 * known by its arguments and `position`, which must differ between two calls of one session.
 */
export function hookKey(dialect: string, event: HookCall, position: string): string {
  const { session, callId, tool, args } = event;
  if (callId !== null) return keyOfCall(dialect, { session, callId });
  return digestOf([dialect, session, 'position', position, tool, args]);
}

/** Returns the key of the hold whose call has ended; `null` if the host sends no call id. */
export function outcomeKey(dialect: string, { session, callId }: HookOutcome): string | null {
  return callId === null ? null : keyOfCall(dialect, { session, callId });
}

/** Returns the name of a session as holds accept it. */
export function sessionName(session: string): string {
  return newTaskIdForm.test(session) ? session : digestOf([session]);
}

function keyOfCall(dialect: string, { session, callId }: { session: string; callId: string }) {
  return digestOf([dialect, session, 'call', callId]);
}

function digestOf(parts: unknown[]): string {
  return hash('sha256', canonicalize(parts) ?? '', 'hex');
}
