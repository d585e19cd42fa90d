/** A state of a chart with its child states. */
export interface StateNode {
  name: string;
  /** Dotted path from the outermost state to this one. */
  path: string;
  description: string;
  isParallel: boolean;
  isFinal: boolean;
  states: StateNode[];
}

/** A chart as described by the stream. */
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

/** Parses a definition from the stream; an actor without a chart has no states. */
export function readChart(definition: string): Chart {
  const known = charts.get(definition);
  if (known !== undefined) return known;
  const read = JSON.parse(definition) as Definition;
  const chart = {
    id: textOf(read.id),
    description: textOf(read.description),
    states: nodesOf(read, ''),
  };
  // Only real charts are cached. An agent has about a dozen, but every actor without a chart has its own definition.
  if (chart.states.length > 0) charts.set(definition, chart);
  return chart;
}

/** Lists the paths of all states in a snapshot's value, including outer ones. */
export function activePaths(value: unknown, above = ''): string[] {
  if (typeof value === 'string') return [above + value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [
    above + name,
    ...activePaths(inside, `${above}${name}.`),
  ]);
}

/** Describes an actor's state in one line, such as `working.thinking`. */
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
