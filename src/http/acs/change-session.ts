import type { AcsSession, AcsSessions } from '../../actors/ports/acs-sessions.ts';
import type { Clock } from '../../actors/ports/clock.ts';

export interface SessionPorts {
  sessions: AcsSessions;
  clock: Pick<Clock, 'now'>;
}

/** Maximum number of attempts to change a session that other requests change at the same time. */
const mostAttempts = 100;

/**
 * Changes a stored session. `change` returns the new state, or `null` to leave it unchanged, and runs again if another
 * request was faster. Returns the result of the last run. Throws an Error if the session does not exist.
 */
export async function changeSession<Result>(
  { sessions, clock }: SessionPorts,
  id: string,
  change: (session: AcsSession) => { session: AcsSession | null; result: Result },
): Promise<Result> {
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const found = await sessions.find(id);
    if (found === undefined) throw new Error(`the session ${id} was deleted`);
    const { session, result } = change(found.session);
    if (session === null) return result;
    const { version } = found;
    if (await sessions.put(id, session, { version, now: clock.now() })) return result;
  }
  throw new Error(`the session ${id} changes too often`);
}
