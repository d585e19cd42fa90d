import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { drawChart } from '../../scripts/charts-layout/draw-chart.ts';
import type { Drawing } from '../../scripts/charts-layout/drawing.ts';
import { drawLayouts, staleLayouts } from '../../scripts/charts-layout/layouts.ts';
import { taskDrawing } from '../../scripts/charts-layout/task-drawing.ts';
import { transitionsOf } from '../../scripts/charts-layout/transitions.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { arrowOf, boxOf } from '../../src/ui/dashboard/chart/drawn-chart.ts';

const root = `${import.meta.dirname}/../..`;

function drawn(change: (plan: Drawing) => void = () => {}) {
  const plan = structuredClone(taskDrawing);
  change(plan);
  return drawChart(taskMachine, 7, plan);
}

describe('the drawing of the task chart', () => {
  it('is the one on the page', () => {
    expect(staleLayouts(root, drawLayouts())).toEqual([]);
  });

  it('is reported as stale when it differs', () => {
    const [[path, text] = ['', '']] = drawLayouts();
    expect(staleLayouts(root, new Map([[path, `${text}\n`]]))).toEqual([path]);
    expect(staleLayouts('/nowhere', new Map([[path, text]]))).toEqual([path]);
  });

  it('shows every transition by a line, inside a box, or with a reason', () => {
    const chart = drawn();
    const unseen = transitionsOf(taskMachine.root).filter(
      ({ from, to }) =>
        boxOf(chart, from) !== boxOf(chart, to) && arrowOf(chart, from, to) === undefined,
    );
    expect(unseen.map(({ from, to }) => ({ from, to }))).toEqual([
      { from: 'working.executing.calling.starting', to: 'working.executing.minting' },
      { from: 'deferred', to: 'completed' },
    ]);
    expect(taskDrawing.undrawn.map(({ from, to }) => ({ from, to }))).toEqual(
      unseen.map(({ from, to }) => ({ from, to })),
    );
  });

  it('places the trigger of a transition at its nearest line', () => {
    const on = (from: string, to: string) => arrowOf(drawn(), from, to)?.on;
    expect(on('deferred.asked', 'working.governing')).toEqual([
      'deferral.decide [isEdit]',
      'deferral.decide [mustBeRuledAgain]',
      'policy.changed',
    ]);
    expect(on('deferred.asked', 'working.executing.recording')).toEqual([
      'deferral.decide [cameTooLateForModel]',
      'deferral.decide [isRejectionForModel]',
      'deadline.reached [isTimeUpForModel]',
    ]);
    expect(on('working.thinking', 'completed')).toEqual(['think done [else]']);
  });

  it.each<[string, (plan: Drawing) => void, string]>([
    [
      'a state without a place',
      (plan) => delete plan.places['canceled'],
      'state canceled has no place',
    ],
    [
      'a place without a state',
      (plan) => (plan.places['parked'] = { at: [0, 350], size: [20, 20] }),
      'there is no state parked',
    ],
    [
      'a transition without a line',
      (plan) => plan.lines.splice(4, 1),
      'no line shows working.governing → deferred.asked (govern done [needsApproval])',
    ],
    [
      'a line without a transition',
      (plan) =>
        plan.lines.push({
          from: 'completed',
          to: 'failed',
          points: [
            [218, 319],
            [296, 319],
          ],
        }),
      'no transition goes along completed → failed',
    ],
    [
      'a line through a box',
      (plan) =>
        ((plan.lines[0] ?? { points: [] }).points = [
          [100, 131],
          [460, 131],
        ]),
      'the line submitted → working runs through working.thinking',
    ],
    [
      'a label on a box',
      (plan) => ((plan.lines[3] ?? { labelAt: [0, 0] }).labelAt = [250, 123]),
      'the label "wants a tool" lies on working.thinking',
    ],
    [
      'a state outside its region',
      (plan) => ((plan.places['deferred.asked'] ?? { at: [0, 0] }).at = [640, 48]),
      'deferred.asked leaves its region',
    ],
  ])('is refused with %s', (_, change, problem) => {
    expect(() => drawn(change)).toThrow(problem);
  });

  it('is small enough for the page', () => {
    const bytes = readFileSync(`${root}/src/ui/dashboard/chart/task-chart.json`).length;
    expect(bytes).toBeLessThan(8_192);
  });
});
