import {
  type DrawnArrow,
  type DrawnChart,
  type DrawnState,
  isWithin,
  type Point,
} from '../../src/ui/dashboard/chart/drawn-chart.ts';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Says what in a drawing is in the way of something else, or outside of it. */
export function faultsOf(chart: DrawnChart): string[] {
  const boxes = chart.states.filter(({ kind }) => kind !== 'region');
  const labels = chart.arrows.filter(({ label }) => label !== '');
  return [
    ...chart.states
      .filter((state) => !isInside(state, chart))
      .map(({ id }) => `${id} leaves its region`),
    ...pairs(boxes).flatMap(([one, other]) =>
      overlap(one, other) ? [`${one.id} and ${other.id} overlap`] : [],
    ),
    ...chart.arrows.flatMap((arrow) => faultsOfLine(arrow, boxes)),
    ...labels.flatMap((arrow) =>
      boxes
        .filter((box) => overlap(boxOfLabel(arrow), box))
        .map(({ id }) => `the label "${arrow.label}" lies on ${id}`),
    ),
    ...pairs(labels).flatMap(([one, other]) =>
      overlap(boxOfLabel(one), boxOfLabel(other))
        ? [`the labels "${one.label}" and "${other.label}" overlap`]
        : [],
    ),
  ];
}

/** The room of a label, on the wide side, as each machine has a font of its own. */
function boxOfLabel({ label, labelAt: [x, y], anchor }: DrawnArrow): Box {
  const width = label.length * 6.2;
  const left = { start: x, middle: x - width / 2, end: x - width }[anchor];
  return { x: left, y: y - 11, width, height: 14 };
}

function faultsOfLine({ from, to, points }: DrawnArrow, boxes: DrawnState[]): string[] {
  const name = `the line ${from} → ${to}`;
  const stretches = points.slice(1).map((point, index) => stretch(points[index] ?? point, point));
  const slanted = stretches.some(({ width, height }) => width > 0 && height > 0);
  const hit = boxes.filter((box) => stretches.some((line) => overlap(line, box)));
  return [
    ...(slanted ? [`${name} is slanted`] : []),
    ...hit.map(({ id }) => `${name} runs through ${id}`),
  ];
}

function isInside(state: DrawnState, { states, width, height }: DrawnChart): boolean {
  const around = states.filter(({ id }) => id !== state.id && isWithin(state.id, id));
  return [...around, { x: 0, y: 0, width, height }].every(
    (box) =>
      state.x >= box.x &&
      state.y >= box.y &&
      state.x + state.width <= box.x + box.width &&
      state.y + state.height <= box.y + box.height,
  );
}

function stretch([x1, y1]: Point, [x2, y2]: Point): Box {
  return {
    x: Math.min(x1, x2),
    y: Math.min(y1, y2),
    width: Math.abs(x1 - x2),
    height: Math.abs(y1 - y2),
  };
}

/** Touching is no overlap: a line ends at the edge of its box. */
function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((one, index) => items.slice(index + 1).map((other): [T, T] => [one, other]));
}
