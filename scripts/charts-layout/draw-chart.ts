import type { AnyStateMachine, AnyStateNode } from 'xstate';
import {
  arrowOf,
  boxOf,
  type DrawnArrow,
  type DrawnChart,
  type DrawnState,
} from '../../src/ui/dashboard/chart/drawn-chart.ts';
import { childrenOf, withDescendants } from '../statecharts/arrows.ts';
import type { Drawing, Line } from './drawing.ts';
import { faultsOf } from './faults.ts';
import { isPassed, pathOf, type Transition, transitionsOf } from './transitions.ts';

/**
 * Draws a chart as planned. Throws when the plan and the chart differ: a state without a place, a transition that no
 * line shows, a line without a transition, or boxes and lines that are in each other's way.
 */
export function drawChart(machine: AnyStateMachine, version: number, plan: Drawing): DrawnChart {
  const nodes = withDescendants(machine.root).filter(({ path }) => path.length > 0);
  const bare: DrawnChart = {
    machine: machine.id,
    version,
    ...plan.size,
    states: nodes.flatMap((node) => drawnState(node, plan)),
    arrows: plan.lines.map(drawnArrow),
  };
  const missing = nodes.filter(
    (node) => !isPassed(node) && boxOf(bare, pathOf(node)) === undefined,
  );
  const shown = transitionsOf(machine.root).filter((transition) => !isUndrawn(transition, plan));
  const chart = { ...bare, arrows: withEvents(bare, shown) };
  const problems = [
    ...missing.map((node) => `state ${pathOf(node)} has no place`),
    ...Object.keys(plan.places)
      .filter((path) => !nodes.some((node) => pathOf(node) === path))
      .map((path) => `there is no state ${path}`),
    ...shown
      .filter(
        ({ from, to }) => !isInOneBox(bare, from, to) && arrowOf(bare, from, to) === undefined,
      )
      .map(({ from, to, label }) => `no line shows ${from} → ${to} (${label})`),
    ...chart.arrows
      .filter(({ on }) => on.length === 0)
      .map(({ from, to }) => `no transition goes along ${from} → ${to}`),
    ...faultsOf(chart),
  ];
  if (problems.length > 0) {
    throw new Error(
      `the drawing of chart ${machine.id} does not fit it:\n  ${problems.join('\n  ')}`,
    );
  }
  return chart;
}

function drawnState(node: AnyStateNode, { places }: Drawing): DrawnState[] {
  const place = places[pathOf(node)];
  if (place === undefined) return [];
  const [x, y] = place.at;
  const [width, height] = place.size;
  const holds = childrenOf(node).some((child) => pathOf(child) in places);
  return [
    {
      id: pathOf(node),
      name: place.name ?? node.key,
      kind: node.type === 'final' ? 'end' : holds ? 'region' : 'step',
      says: node.description ?? '',
      x,
      y,
      width,
      height,
    },
  ];
}

function drawnArrow({ from, to, label = '', points, labelAt = [0, 0], anchor = 'middle' }: Line) {
  return { from, to, label, on: [], points, labelAt, anchor } satisfies DrawnArrow;
}

/** Writes at each line what sets it off. */
function withEvents(chart: DrawnChart, transitions: Transition[]): DrawnArrow[] {
  const events = new Map<DrawnArrow, Set<string>>(chart.arrows.map((arrow) => [arrow, new Set()]));
  for (const { from, to, label } of transitions) {
    if (isInOneBox(chart, from, to)) continue;
    for (const arrow of leavesOf(chart, from).map((leaf) => arrowOf(chart, leaf, to))) {
      if (arrow !== undefined) events.get(arrow)?.add(label);
    }
  }
  return chart.arrows.map((arrow) => ({ ...arrow, on: [...(events.get(arrow) ?? [])] }));
}

/** The boxes without boxes in them that a state stands for. */
function leavesOf({ states }: DrawnChart, path: string): string[] {
  const inside = states.filter(({ id, kind }) => kind !== 'region' && id.startsWith(`${path}.`));
  return inside.length === 0 ? [path] : inside.map(({ id }) => id);
}

function isInOneBox(chart: DrawnChart, from: string, to: string): boolean {
  const box = boxOf(chart, from);
  return box !== undefined && box.kind === 'step' && box === boxOf(chart, to);
}

function isUndrawn({ from, to }: Transition, { undrawn }: Drawing): boolean {
  return undrawn.some((exception) => exception.from === from && exception.to === to);
}
