import type { KeptSnapshot } from './snapshot-steps.ts';

/** The state in which a turn's next call begins. From there governance evaluates the call from its first layer. */
const unruled = { working: { executing: 'recording' } };

const starting = { working: { executing: { calling: 'starting' } } };

/**
 * Rewinds a stored snapshot to the start of a call that had started. The restoration therefore never runs a tool: the
 * chart waits there until it receives whether the call may run (docs/contract/task.md). A call that had not started is
 * evaluated again, because the policy may have changed.
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
