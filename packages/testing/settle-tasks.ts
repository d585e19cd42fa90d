import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { TaskStore } from '../../src/actors/records/records.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** Maximum turns of the event loop before a still pending action counts as a defect. */
const patience = 10_000;

/** Turns after which a running tool is no longer awaited, and every turn takes a millisecond: files are read by threads. */
const shortTurns = 200;

/**
 * Resolves once everything that is due by a clock has happened and is on disk. Runs that continue after a wait are
 * awaited until they wait again or end, unless one of their tools takes longer.
 */
export async function settleTasks(store: TaskStore, clock: SimulatedClock): Promise<void> {
  let isOverdue = true;
  for (let turns = 0; turns < patience; turns += 1) {
    await (turns < shortTurns ? nextTurn() : pause(1));
    await store.flush();
    isOverdue = (await store.rows.overdue(clock.now())).length > 0;
    if (!isOverdue && !(await isAnyAtWork(store, turns < shortTurns))) return;
  }
  if (isOverdue) throw new Error('a wait that is over does not end; this is a defect of holdpoint');
}

async function isAnyAtWork({ rows }: TaskStore, withTools: boolean): Promise<boolean> {
  const working = await rows.working();
  if (withTools || working.length === 0) return working.length > 0;
  const stored = await Promise.all(working.map((id) => rows.read(id)));
  return stored.some((task) => task?.startedCall === null);
}
