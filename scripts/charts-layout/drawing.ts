import type { Point } from '../../src/ui/dashboard/chart/drawn-chart.ts';

/** How a chart is to be drawn: where its states stand and which lines join them. */
export interface Drawing {
  size: { width: number; height: number };
  /** By path. A state within a box that has no place of its own is drawn as part of it. */
  places: Record<string, Place>;
  lines: Line[];
  /** Transitions that have no line, and why; their ends are paths. */
  undrawn: { from: string; to: string; because: string }[];
}

export interface Place {
  at: Point;
  size: Point;
  /** What it is called where its key says too little. */
  name?: string;
}

/** A line between two states or regions; all transitions between them and within them share it. */
export interface Line {
  from: string;
  to: string;
  label?: string;
  points: Point[];
  labelAt?: Point;
  anchor?: 'start' | 'middle' | 'end';
}
