import type { z } from 'zod';
import type { decisionRecord } from '../decision-record.ts';
import type { Lenient } from '../relaxed.ts';
import type { statePath } from '../states.ts';
import type { DeferralJson } from './held-call-json.ts';
import type { TaskRowJson } from './task-row-json.ts';

/** One task with its path through the statechart: `GET /api/agents/{id}/tasks/{tid}`. */
export interface TaskDetailJson extends TaskRowJson {
  /** The agent's own JSON of the task. */
  task: unknown;
  statechart: StatechartJson;
  decisions: DecisionJson[];
  deferral: DeferralJson | null;
  /** The task's audit events, oldest first. */
  timeline: TimelineEntryJson[];
}

/** A task's position in its chart, and its path there. */
export interface StatechartJson {
  machine: 'task';
  version: number;
  /** Dotted path of the current state, such as `deferred.asked`. */
  value: string;
  states: StateVisitJson[];
}

/** One state that a task entered. */
export type StateVisitJson = Lenient<z.output<typeof statePath>>['states'][number];

/** The decision of one governance layer on a call. */
export type DecisionJson = Lenient<z.output<typeof decisionRecord>>;

/** One audit event without its envelope. */
export interface TimelineEntryJson {
  /** Number of the event's line in the log, from 1. */
  line: number;
  /** Number of the event within its invocation. */
  seq: number;
  at: string;
  event: string;
  fields: Record<string, unknown>;
}
