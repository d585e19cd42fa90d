import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { taskMachineVersion } from '../../src/machines/task/snapshot-steps.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import type { DrawnChart } from '../../src/ui/dashboard/chart/drawn-chart.ts';
import { drawChart } from './draw-chart.ts';
import { taskDrawing } from './task-drawing.ts';

const file = 'src/ui/dashboard/chart/task-chart.json';

/** Draws the charts that the page shows, as text by the path of their file. */
export function drawLayouts(): Map<string, string> {
  return new Map([[file, textOf(drawChart(taskMachine, taskMachineVersion, taskDrawing))]]);
}

/** Names the files whose text differs from the drawing. */
export function staleLayouts(root: string, layouts: Map<string, string>): string[] {
  return [...layouts]
    .filter(([path, text]) => read(join(root, path)) !== text)
    .map(([path]) => path);
}

export function writeLayouts(root: string, layouts: Map<string, string>): void {
  for (const [path, text] of layouts) writeFileSync(join(root, path), text);
}

/** One state or line a row, so that a change reads as what it is. */
function textOf({ states, arrows, ...head }: DrawnChart): string {
  const rows = (items: object[]) => items.map((item) => `    ${JSON.stringify(item)}`).join(',\n');
  const fields = JSON.stringify(head).slice(1, -1);
  return `{\n  ${fields},\n  "states": [\n${rows(states)}\n  ],\n  "arrows": [\n${rows(arrows)}\n  ]\n}\n`;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
