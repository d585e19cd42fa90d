import type {
  DecisionJson,
  TaskDetailJson,
  TimelineEntryJson,
} from '../../../../http/wire/dashboard/task-detail-json.ts';
import type { DrawnChart } from '../../chart/drawn-chart.ts';
import { type Stop, upTo, walk } from '../../chart/walk.ts';
import { stopsOfEvents } from './led-to.ts';
import { type Said, transcriptOf } from './transcript.ts';

/** A task as it was at one of its steps. */
export interface TaskAt {
  /** Step number from 0; `last` is the current one. */
  step: number;
  last: number;
  /** The path up to that step. */
  stops: Stop[];
  /** Epoch milliseconds at which the step was left; `null` for the current state. */
  until: number | null;
  decisions: DecisionJson[];
  timeline: TimelineEntryJson[];
  /** Stop index of each event in `timeline`. */
  stopOf: number[];
  transcript: Said[];
  held: HeldThen | null;
}

/** A held call, and its approvals at that time. */
export interface HeldThen {
  tool: string;
  to: string;
  approvedBy: string[];
  /** Epoch milliseconds. */
  expires: number;
}

/**
 * Returns what was known of a task at a step of its path; a step beyond the last is treated as the last. Uses only data
 * that is already loaded. The last step is the current task, and each step only adds data to the previous one.
 */
export function taskAt(chart: DrawnChart, task: TaskDetailJson, step: number): TaskAt {
  const way = walk(chart, task.statechart.states);
  const last = Math.max(0, way.length - 1);
  const here = Math.max(0, Math.min(step, last));
  const places = stopsOfEvents(task.timeline, way);
  const known = places.map((place) => here === last || place <= here);
  const timeline = task.timeline.filter((_, index) => known[index]);
  const ruledAt = stopsOfDecisions(task.decisions, way);
  return {
    ...{ step: here, last },
    stops: upTo(way, here),
    until: here === last ? null : (way[here]?.left ?? null),
    decisions: task.decisions.filter((_, index) => here === last || (ruledAt[index] ?? 0) <= here),
    timeline,
    stopOf: places.filter((_, index) => known[index]),
    transcript: transcriptOf(task, places, last).filter(
      ({ stop }) => here === last || stop <= here,
    ),
    held: heldIn(timeline),
  };
}

/**
 * Returns the stop at which each decision was known. Decisions have no time, so each call is matched with one visit of
 * governance, starting with the first visit of the latest run, which is the only run with recorded decisions.
 */
function stopsOfDecisions(decisions: readonly DecisionJson[], stops: readonly Stop[]): number[] {
  const last = Math.max(0, stops.length - 1);
  const began = Math.max(
    0,
    stops.findLastIndex(({ box }) => box.id === 'submitted'),
  );
  const visits = stops.flatMap(({ box }, index) =>
    index >= began && box.id === 'working.governing' ? [index] : [],
  );
  const calls = [
    ...new Set(decisions.flatMap(({ call_id: id }) => (id === undefined ? [] : [id]))),
  ];
  // The middle states of a long path are not stored. Calls without a stored visit are treated as earlier.
  const missing = Math.max(0, calls.length - visits.length);
  const after = (from: number, ...boxes: string[]): number => {
    const found = stops.findIndex(({ box }, index) => index >= from && boxes.includes(box.id));
    return found < 0 ? last : found;
  };
  return decisions.map(({ call_id: id, layer }) => {
    if (id === undefined) return Math.min(last, began + 1);
    const visit = visits[Math.max(0, calls.indexOf(id) - missing)];
    if (visit === undefined) return last;
    const ruled = Math.min(last, visit + 1);
    if (layer === 'credentials') return after(ruled, 'working.executing.calling', 'failed');
    if (layer === 'output') return after(ruled, 'working.executing.recording', 'failed');
    return ruled;
  });
}

const endsOfWait = new Set(['task_deferred_timeout', 'task_deferred_abandoned', 'session_end']);

function heldIn(timeline: readonly TimelineEntryJson[]): HeldThen | null {
  let held: HeldThen | null = null;
  for (const { event, at, fields } of timeline) {
    if (event === 'task_deferred') {
      held = {
        tool: textOf(fields['tool']),
        to: textOf(fields['to']),
        approvedBy: [],
        expires: Date.parse(at) + Number(fields['timeout_ms'] ?? 0),
      };
    } else if (event === 'task_deferred_decision' && fields['authorized'] !== false) {
      const approver = textOf(fields['approver']);
      if (fields['decision'] !== 'approve') held = null;
      else held?.approvedBy.push(approver);
    } else if (endsOfWait.has(event) || (event === 'tool_exec' && fields['phase'] === 'start')) {
      held = null;
    }
  }
  return held;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
