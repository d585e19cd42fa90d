import type { KeptSnapshot } from './migrate-snapshot.ts';

const starting = { working: { executing: { calling: 'starting' } } };

/**
 * Takes a kept snapshot back to the start of a call that had started, whatever it was doing when it was kept. So a
 * tool never runs because its task was restored: the chart waits there to hear whether it may (contract section 4).
 */
export function rewindCall(snapshot: KeptSnapshot): KeptSnapshot {
  const { startedAt = null } = snapshot.context;
  return startedAt === null ? snapshot : { ...snapshot, value: starting, children: {} };
}
