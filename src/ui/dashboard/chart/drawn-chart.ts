/** A chart as the page draws it, which `npm run statecharts` writes. Lengths are pixels at full size. */
export interface DrawnChart {
  machine: string;
  version: number;
  width: number;
  height: number;
  /** Outermost first, so that a state is painted over the region it is in. */
  states: DrawnState[];
  arrows: DrawnArrow[];
}

export interface DrawnState {
  /** Path in the chart, such as `working.thinking`. */
  id: string;
  name: string;
  kind: 'step' | 'region' | 'end';
  /** What the chart says about it. */
  says: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** One line of the drawing: every transition between two places that no other line is nearer to. */
export interface DrawnArrow {
  /** Paths of the states or regions at its ends. */
  from: string;
  to: string;
  label: string;
  /** What sets it off, as in the pages of the charts: `govern done [needsApproval]`. */
  on: string[];
  points: Point[];
  labelAt: Point;
  anchor: 'start' | 'middle' | 'end';
}

export type Point = [x: number, y: number];

/** Finds the box in which a state of the chart is drawn: its own, else that of the closest region around it. */
export function boxOf(chart: DrawnChart, path: string): DrawnState | undefined {
  return nearest(chart.states, path, ({ id }) => id);
}

/** Finds the line that shows the step between two states: the one whose ends are closest to them. */
export function arrowOf(chart: DrawnChart, from: string, to: string): DrawnArrow | undefined {
  const arriving = chart.arrows.filter((arrow) => isWithin(to, arrow.to));
  const candidates = arriving.filter((arrow) => isWithin(from, arrow.from));
  return candidates.toSorted((one, other) => closeness(other) - closeness(one))[0];
}

/** Says whether a state is the region or stands somewhere in it. */
export function isWithin(path: string, region: string): boolean {
  return path === region || path.startsWith(`${region}.`);
}

function closeness({ from, to }: DrawnArrow): number {
  return from.length + to.length;
}

function nearest<T>(items: readonly T[], path: string, idOf: (item: T) => string): T | undefined {
  return items
    .filter((item) => isWithin(path, idOf(item)))
    .toSorted((one, other) => idOf(other).length - idOf(one).length)[0];
}
