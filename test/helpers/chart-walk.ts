import { expect, it, vi } from 'vitest';
import {
  type ActorLogic,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type EventObject,
  type StateValue,
  transition,
} from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { prompt } from './patient.ts';

/** An event of a chart, or of what it has invoked. */
type HeardEvent = EventObject & Record<string, unknown>;

type Heard = HeardEvent | readonly HeardEvent[];

/** Something that can happen to a chart, from outside or by what it has asked for. */
export interface Happening<World> {
  /**
   * The event for the chart. A source that emits several events without a request has one entry for each. A function
   * derives the event from the state of the chart.
   */
  event: Heard | ((snapshot: AnyMachineSnapshot) => Heard);
  /** Whether the world can make it happen in the chart's state; anywhere when absent. */
  in?: (snapshot: AnyMachineSnapshot) => boolean;
  /** Makes it happen to the real thing, and checks the effects outside its chart. */
  happen: (world: World) => void | Promise<void>;
}

/** What can happen to a chart, each under a name that titles its paths. */
export type Happenings<World> = Readonly<Record<string, Happening<World>>>;

/** One of the shortest paths of a chart. */
interface ChartPath {
  title: string;
  /** The state of the chart before anything happens. */
  begun: AnyMachineSnapshot;
  /** The events, and the state of the chart after them. */
  steps: readonly { name: string; snapshot: AnyMachineSnapshot }[];
}

export interface PathOptions<World> {
  /** The chart with those of its actions filled that decide where it goes; itself when absent. */
  filled?: AnyStateMachine;
  input?: unknown;
  /** Other parts of a snapshot that distinguish two situations with equal states. */
  fingerprint?: (snapshot: AnyMachineSnapshot) => unknown;
  /** States that the chart never rests in, by the names on their way. */
  passing?: readonly string[];
  /** Walks few paths, which pass through every state, and not all. */
  isBrief?: boolean;
  /** Checks after each step what an outsider sees of the chart's state, until it is right. */
  look?: (world: World, snapshot: AnyMachineSnapshot) => void | Promise<void>;
}

/**
 * Returns the shortest path to every transition of a chart that can happen. Prefixes of other paths are omitted,
 * because the longer walks contain them. No effect of the chart runs.
 */
function shortestPathsOf(
  chart: AnyStateMachine,
  happenings: Happenings<any>,
  { input, filled = chart, fingerprint = () => null }: PathOptions<any>,
): ChartPath[] {
  const situation = (snapshot: AnyMachineSnapshot): unknown => [
    snapshot.value,
    snapshot.status,
    fingerprint(snapshot),
  ];
  const paths = getShortestPaths(told(filled), {
    input,
    events: (snapshot) =>
      Object.entries(happenings)
        .filter(([, { in: isPossible = () => true }]) => isPossible(snapshot))
        .map(([type, happening]) => ({ type, heard: heardOf(happening, snapshot) })),
    serializeEvent: ({ type }) => type,
    serializeState: (snapshot, event, previous) =>
      JSON.stringify([previous && situation(previous), event?.type, situation(snapshot)]),
    stopWhen: ({ status }) => status !== 'active',
  });
  const walks = paths.map(({ steps }) => {
    const names = steps.map(({ event }) => event.type).filter((name) => name in happenings);
    const begun = steps[0]?.state ?? filled.getInitialSnapshot(null as never, input);
    let snapshot = begun;
    return {
      begun,
      title: names.join(', then ') || 'nothing happens',
      // Two ways to one situation may differ in all else: each step is the one of this way.
      steps: names.map((name) => {
        const heard = heardOf(happenings[name], snapshot);
        [snapshot] = transition(told(filled), snapshot, { type: name, heard });
        return { name, snapshot };
      }),
    };
  });
  return walks.filter(({ title }) => !walks.some((other) => other.title.startsWith(`${title}, `)));
}

function heardOf(
  happening: Happening<any> | undefined,
  snapshot: AnyMachineSnapshot,
): HeardEvent[] {
  const { event = [] } = happening ?? {};
  return [typeof event === 'function' ? event(snapshot) : event].flat();
}

/** A chart that records all events that it receives. */
function told(
  chart: AnyStateMachine,
): ActorLogic<AnyMachineSnapshot, EventObject & { heard: readonly HeardEvent[] }, any> {
  return {
    getInitialSnapshot: (scope, input) => chart.getInitialSnapshot(scope as never, input),
    getPersistedSnapshot: (snapshot) => chart.getPersistedSnapshot(snapshot as never),
    transition: (snapshot, { heard }, scope) =>
      heard.reduce<AnyMachineSnapshot>(
        (at, event) => chart.transition(at as never, event, scope as never),
        snapshot,
      ),
  };
}

/** Returns the states without states in them that no path comes to rest in, by the names on their way. */
function unreachedStates(chart: AnyStateMachine, paths: readonly ChartPath[]): string[] {
  const first = chart.root.initial?.target.map(({ path }) => path.join('.')) ?? [];
  const reached = paths.flatMap(({ begun, steps }) =>
    [begun, ...steps.map(({ snapshot }) => snapshot)].flatMap(({ value }) => leavesOf(value)),
  );
  return leavesUnder(chart.root).filter((leaf) => ![...first, ...reached].includes(leaf));
}

function leavesUnder(node: AnyStateNode): string[] {
  const below = Object.values(node.states);
  return below.length === 0 ? [node.path.join('.')] : below.flatMap(leavesUnder);
}

function leavesOf(value: StateValue): string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(value).flatMap(([key, within = {}]) => {
    const leaves = leavesOf(within);
    return leaves.length === 0 ? [key] : leaves.map((leaf) => `${key}.${leaf}`);
  });
}

/** Records the actors that run a chart, created by any code; requested before that. Ends with the test. */
function watchActorsOf(chart: AnyStateMachine): readonly AnyActorRef[] {
  const actors: AnyActorRef[] = [];
  const watch = (logic: AnyStateMachine): AnyStateMachine => {
    const { getInitialSnapshot, restoreSnapshot, provide } = logic;
    vi.spyOn(logic, 'getInitialSnapshot').mockImplementation((scope, input) => {
      actors.push(scope.self);
      return getInitialSnapshot.call(logic, scope, input);
    });
    vi.spyOn(logic, 'restoreSnapshot').mockImplementation((snapshot, scope) => {
      actors.push(scope.self);
      return restoreSnapshot.call(logic, snapshot, scope);
    });
    vi.spyOn(logic, 'provide').mockImplementation((filled) => watch(provide.call(logic, filled)));
    return logic;
  };
  watch(chart);
  return actors;
}

/** The real thing that runs a chart, to which nothing has happened. */
interface Begun<World> {
  opened: World | Promise<World>;
  /** Whether the chart is in its initial state; some begin with the first event. */
  hasBegun: () => boolean;
  /** Checks once whether the real thing is in the chart's state. */
  look: (world: World, snapshot: AnyMachineSnapshot) => void | Promise<void>;
}

/** Returns few of the paths, in their order, that together pass through every state that any of them passes through. */
function coveringPaths(paths: readonly ChartPath[]): ChartPath[] {
  const met = new Set<string>();
  const covering = new Set<ChartPath>();
  // A long path passes through what shorter ones end in.
  for (const path of paths.toSorted((one, other) => other.steps.length - one.steps.length)) {
    const passed = [path.begun, ...path.steps.map(({ snapshot }) => snapshot)].map(
      ({ value, status }) => JSON.stringify([value, status]),
    );
    if (passed.every((state) => met.has(state))) continue;
    covering.add(path);
    for (const state of passed) met.add(state);
  }
  return paths.filter((path) => covering.has(path));
}

/**
 * Registers tests that walk every shortest path of a chart, and look after each step until nothing is wrong with it.
 * A brief walk takes few of them, which pass through every state.
 */
export function walkPaths<World>(
  chart: AnyStateMachine,
  happenings: Happenings<World>,
  begin: () => Begun<World>,
  {
    passing = [],
    isBrief = false,
    ...options
  }: Omit<PathOptions<World>, 'look'> & { interval?: number },
): void {
  const paths = shortestPathsOf(chart, happenings, options);
  const walked = isBrief ? coveringPaths(paths) : paths;
  const waiting = { ...prompt, ...options };

  it('reach every state', () => {
    expect(unreachedStates(chart, paths)).toEqual(passing);
  });

  it.each(walked.map((path) => [path.title, path] as const))('%s', async (_, { begun, steps }) => {
    const { opened, hasBegun, look } = begin();
    const world = await opened;
    // At once, as some continue by themselves.
    if (hasBegun()) await vi.waitFor(() => look(world, begun), waiting);
    for (const { name, snapshot } of steps) {
      await happenings[name]?.happen(world);
      await vi.waitFor(() => look(world, snapshot), waiting);
    }
  });
}

/**
 * Registers tests that walk every shortest path of a chart through the real thing that runs it, and look after each step
 * whether the newest actor of the chart is in the expected state.
 *
 * @param open starts the real thing, to which nothing has happened; the actors are those that run the chart
 */
export function walkChart<World>(
  chart: AnyStateMachine,
  happenings: Happenings<World>,
  open: (actors: readonly AnyActorRef[]) => World | Promise<World>,
  { look, ...options }: PathOptions<World> = {},
): void {
  const begin = (): Begun<World> => {
    const actors = watchActorsOf(chart);
    return {
      opened: open(actors),
      hasBegun: () => actors.length > 0,
      look: async (world, snapshot) => {
        expect(actors.at(-1)?.getSnapshot().value).toEqual(snapshot.value);
        await look?.(world, snapshot);
      },
    };
  };
  walkPaths(chart, happenings, begin, options);
}
