import type { DeferralJson } from './held-call-json.ts';
import type { TaskRowJson } from './task-row-json.ts';

/** One task with its way through the statechart: `GET /api/agents/{id}/tasks/{tid}`. */
export interface TaskDetailJson extends TaskRowJson {
  /** The agent's own JSON of the task. */
  task: unknown;
  statechart: StatechartJson;
  decisions: DecisionJson[];
  deferral: DeferralJson | null;
  /** Audit events of this task, oldest first. */
  timeline: TimelineEntryJson[];
}

/** Where a task stands in its chart, and how it came there. */
export interface StatechartJson {
  machine: 'task';
  version: number;
  /** Dotted path of the current state, such as `deferred.asked`. */
  value: string;
  states: StateVisitJson[];
}

/** One state that a task entered. */
export interface StateVisitJson {
  state: string;
  event: string;
  entered_at: string;
}

/** What one layer of governance said of a call. */
export interface DecisionJson {
  call_id?: string;
  tool?: string;
  layer: string;
  decision: string;
  reason: string;
  duration_ms: number;
  /** What MODIFY changed of the arguments, each value as JSON; neither where there was none. */
  changes?: { path: string; before?: string; after?: string }[];
}

/** One audit event without its envelope. */
export interface TimelineEntryJson {
  /** The number of its line in the log, from 1. */
  line: number;
  /** Its number within its invocation. */
  seq: number;
  at: string;
  event: string;
  fields: Record<string, unknown>;
}
