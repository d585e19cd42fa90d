import { z } from 'zod';

export const progress = z
  .object({
    task_id: z.string(),
    phase: z.enum(['tool_start', 'tool_end', 'token']),
    tool: z.string().exactOptional(),
    text: z.string().exactOptional(),
  })
  .meta({ id: 'Progress', description: 'The data of a progress event in the stream of a task.' });

/** Formats the progress of a task. */
export function presentProgress(
  id: string,
  made: Omit<z.input<typeof progress>, 'task_id'>,
): z.input<typeof progress> {
  return { task_id: id, ...made };
}
