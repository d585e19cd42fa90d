import { setImmediate as turn } from 'node:timers/promises';
import type { TaskStore } from '../actors/records/records.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** Maximum turns of the event loop before a still pending action counts as a defect. */
const patience = 10_000;

/** Maximum turns for runs at work; a tool may take as long as it likes. */
const patienceForRuns = 500;

/**
 * Resolves once everything that is due by a clock has happened and is on disk. Runs that continue after a wait are
 * awaited until they wait again or end, unless one of their tools takes longer.
 */
export async function settleTasks(store: TaskStore, clock: SimulatedClock): Promise<void> {
  for (let turns = 0; turns < patience; turns += 1) {
    await turn();
    await store.flush();
    if ((await store.rows.overdue(clock.now())).length > 0) continue;
    if (turns >= patienceForRuns || (await store.rows.working()).length === 0) return;
  }
  throw new Error('a wait that is over does not end; this is a defect of holdpoint');
}
