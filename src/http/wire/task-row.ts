import { z } from 'zod';
import { type Task, taskStates } from '../../machines/domain/task.ts';
import { time, timestamp } from './timestamp.ts';

export const taskRow = z
  .object({
    id: z.string(),
    context_id: z.string(),
    state: z.enum(taskStates),
    changed_at: time,
    text: z.string(),
    tool: z.string().describe('The tool of the call that waits.').exactOptional(),
  })
  .meta({ id: 'TaskRow', description: 'A task in one line, as events show it.' });

/** Formats a task as one row. */
export function presentRow({
  id,
  contextId,
  state,
  changedAt,
  text,
  deferral,
}: Task): z.input<typeof taskRow> {
  return {
    id,
    context_id: contextId,
    state,
    changed_at: timestamp(changedAt),
    text: text ?? '',
    ...(deferral === null ? {} : { tool: deferral.tool }),
  };
}
