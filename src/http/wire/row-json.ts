import type { Task } from '../../machines/task/task.ts';
import { timestamp } from './timestamp.ts';

/** A task as one row. */
export interface RowJson {
  id: string;
  context_id: string;
  state: string;
  changed_at: string;
  text: string;
  /** Tool of the held call; absent if there is none. */
  tool?: string;
}

/** Formats a task as one row. */
export function presentRow({ id, contextId, state, changedAt, text, deferral }: Task): RowJson {
  return {
    id,
    context_id: contextId,
    state,
    changed_at: timestamp(changedAt),
    text: text ?? '',
    ...(deferral === null ? {} : { tool: deferral.tool }),
  };
}
