import type { KeptSnapshot } from './migrate-snapshot.ts';

/** Where the next call of a turn is taken up: from there governance rules on the call from its first layer on. */
const unruled = { working: { executing: 'recording' } };

const starting = { working: { executing: { calling: 'starting' } } };

/**
 * Takes a kept snapshot back to the start of a call that had started, whatever it was doing when it was kept. So a tool
 * never runs because its task was restored: the chart waits there to hear whether it may (docs/contract/task.md). A
 * call that had not started is ruled on anew, since what ruled on it may be another policy by now.
 */
export function rewindCall(snapshot: KeptSnapshot): KeptSnapshot {
  const { startedAt = null } = snapshot.context;
  if (startedAt !== null) return { ...snapshot, value: starting, children: {} };
  return isRuledOn(snapshot) ? { ...snapshot, value: unruled, children: {} } : snapshot;
}

function isRuledOn({ value }: KeptSnapshot): boolean {
  const state = JSON.stringify(value);
  return state === '{"working":"governing"}' || state === '{"working":{"executing":"minting"}}';
}
