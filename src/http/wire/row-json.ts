import type { Task } from '../../machines/task/task.ts';
import { timestamp } from './timestamp.ts';

/** A task in one line. */
export interface RowJson {
  id: string;
  context_id: string;
  state: string;
  changed_at: string;
  text: string;
  /** The tool of the call that waits; absent when none does. */
  tool?: string;
}

/** Presents a task in one line. */
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
