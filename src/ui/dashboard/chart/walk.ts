import {
  arrowOf,
  boxOf,
  type DrawnArrow,
  type DrawnChart,
  type DrawnState,
  isWithin,
} from './drawn-chart.ts';

/** A state that a task entered, as reported by the agent; `state` is a chart path, `entered_at` is RFC 3339. */
export interface Entered {
  state: string;
  event: string;
  entered_at: string;
}

/** One stop on a task's path over the drawing. States drawn as one box are one stop. */
export interface Stop {
  box: DrawnState;
  /** The line that led here; absent at the first stop and if the drawing has none. */
  by: DrawnArrow | undefined;
  event: string;
  /** Full path of the state last entered within the box. */
  state: string;
  /** Epoch milliseconds; `left` is `null` at the last stop. */
  entered: number;
  left: number | null;
}

/** Time spent in a box, and number of entries. */
export interface Stay {
  milliseconds: number;
  visits: number;
}

/**
 * Computes a task's path over the drawing. A state without a box is merged with the states that follow in its region,
 * and a state unknown to the drawing is skipped.
 */
export function walk(chart: DrawnChart, states: readonly Entered[]): Stop[] {
  const stops: Stop[] = [];
  for (const { state, event, entered_at } of states) {
    const box = boxOf(chart, state);
    if (box === undefined) continue;
    const last = stops.at(-1);
    if (last !== undefined && isOneStop(last.box, box)) {
      stops[stops.length - 1] = { ...last, box, state };
      continue;
    }
    const entered = Date.parse(entered_at);
    if (last !== undefined) last.left = entered;
    const by = last === undefined ? undefined : arrowOf(chart, last.state, state);
    stops.push({ box, by, event, state, entered, left: null });
  }
  return stops;
}

function isOneStop(last: DrawnState, box: DrawnState): boolean {
  return last.kind === 'region' ? isWithin(box.id, last.id) : last === box && box.kind === 'step';
}

/**
 * Sums up the time in each box by ID; a region includes the states inside it. The last stop lasts until `now`, unless
 * it is final.
 */
export function staysOf(
  { states }: DrawnChart,
  stops: readonly Stop[],
  now: number,
): Map<string, Stay> {
  const stays = new Map<string, Stay>();
  for (const [index, { box, entered, left }] of stops.entries()) {
    const until = left ?? (box.kind === 'end' ? entered : now);
    for (const around of states.filter(({ id }) => isWithin(box.id, id))) {
      const before = stays.get(around.id) ?? { milliseconds: 0, visits: 0 };
      const came = index === 0 || !isWithin(stops[index - 1]?.box.id ?? '', around.id);
      stays.set(around.id, {
        milliseconds: before.milliseconds + Math.max(0, until - entered),
        visits: before.visits + (came || around === box ? 1 : 0),
      });
    }
  }
  return stays;
}

/** Returns the path as it was when the stop at `index` was the last one. */
export function upTo(stops: readonly Stop[], index: number): Stop[] {
  return stops.slice(0, index + 1);
}
