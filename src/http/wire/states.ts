import { z } from 'zod';
import type { Task } from '../../machines/domain/task.ts';
import type { StateHistory } from '../../machines/task/entered-state.ts';
import { time, timestamp } from './timestamp.ts';

/** The schema of a task's path through its chart (docs/contract/transports.md). */
export const statePath = z.object({
  statechart: z.object({
    version: z.int(),
    value: z.string().describe('The current state of the task.'),
  }),
  states: z
    .array(z.object({ state: z.string(), event: z.string(), entered_at: time }))
    .describe('The states that the task has entered, oldest first.'),
  states_left_out: z
    .int()
    .describe('Number of deleted states after the first one.')
    .exactOptional(),
});

/** Formats a task's path. A task whose row was lost has only its current position. */
export function presentStates(
  { state, stage }: Task,
  { states, leftOut, version }: StateHistory,
): z.input<typeof statePath> {
  const value = states.at(-1)?.state ?? (stage === null ? state : `${state}.${stage}`);
  return {
    statechart: { version, value },
    states: states.map(({ state, event, at }) => ({ state, event, entered_at: timestamp(at) })),
    ...(leftOut === 0 ? {} : { states_left_out: leftOut }),
  };
}
