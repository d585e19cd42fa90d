/** A state of a chart with those inside it. */
export interface StateNode {
  name: string;
  /** Names from the outermost state to this one, with dots. */
  path: string;
  description: string;
  isParallel: boolean;
  isFinal: boolean;
  states: StateNode[];
}

/** A chart as the stream describes it. */
export interface Chart {
  id: string;
  description: string;
  states: StateNode[];
}

interface Definition {
  id?: unknown;
  description?: unknown;
  type?: unknown;
  states?: { [name: string]: Definition };
}

const charts = new Map<string, Chart>();

/** Reads a definition of the stream; what is no chart has no states. */
export function readChart(definition: string): Chart {
  const known = charts.get(definition);
  if (known !== undefined) return known;
  const read = JSON.parse(definition) as Definition;
  const chart = {
    id: textOf(read.id),
    description: textOf(read.description),
    states: nodesOf(read, ''),
  };
  // An agent has a dozen charts, but actors without one are each described by their name.
  if (chart.states.length > 0) charts.set(definition, chart);
  return chart;
}

/** Lists the paths of every state that a snapshot's value is in, outer ones included. */
export function activePaths(value: unknown, above = ''): string[] {
  if (typeof value === 'string') return [above + value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [
    above + name,
    ...activePaths(inside, `${above}${name}.`),
  ]);
}

/** Says where an actor stands in one line, such as `working.thinking`. */
export function lineOf(value: unknown): string {
  const paths = activePaths(value);
  return paths.filter((path) => !paths.some((other) => other.startsWith(`${path}.`))).join(', ');
}

function nodesOf({ states = {} }: Definition, above: string): StateNode[] {
  return Object.entries(states).map(([name, state]) => ({
    name,
    path: above + name,
    description: textOf(state.description),
    isParallel: state.type === 'parallel',
    isFinal: state.type === 'final',
    states: nodesOf(state, `${above}${name}.`),
  }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
