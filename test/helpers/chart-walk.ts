import { expect, it, vi } from 'vitest';
import type {
  AnyActorRef,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  EventObject,
  StateValue,
} from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { patient } from './patient.ts';

/** A walk waits at every step, and looks often so that it is short. */
const soon = { ...patient, interval: 3 };

/** An event of a chart, or of what it has invoked. */
type HeardEvent = EventObject & Record<string, unknown>;

/** Something that can happen to a chart, from outside or by what it has asked for. */
export interface Happening<World> {
  /** What the chart hears of it; made of where the chart stands when it depends on that. */
  event: HeardEvent | ((snapshot: AnyMachineSnapshot) => HeardEvent);
  /** Whether the world can make it happen where the chart stands; anywhere when absent. */
  in?: (snapshot: AnyMachineSnapshot) => boolean;
  /** Makes it happen to the real thing, and looks at what that does beside its chart. */
  happen: (world: World) => void | Promise<void>;
}

/** What can happen to a chart, each under a name that titles its paths. */
export type Happenings<World> = Readonly<Record<string, Happening<World>>>;

/** One of the shortest paths of a chart. */
interface ChartPath {
  title: string;
  /** What happens, and where the chart stands after it. */
  steps: readonly { name: string; value: StateValue }[];
}

interface PathOptions {
  input?: unknown;
  /** What else of a snapshot tells two situations apart, beside its states. */
  fingerprint?: (snapshot: AnyMachineSnapshot) => unknown;
}

interface WalkOptions<World> extends PathOptions {
  /** States that the chart never rests in, by the names on their way. */
  passing?: readonly string[];
  /** Looks after each step at the real thing beside its chart, until nothing is wrong with it. */
  look?: (world: World, value: StateValue) => void | Promise<void>;
}

/**
 * Returns the shortest path to every transition of a chart that can happen; those that others begin with are left out,
 * as whoever walks these has walked them. No effect of the chart runs.
 */
function shortestPathsOf(
  chart: AnyStateMachine,
  happenings: Happenings<any>,
  { input, fingerprint = () => null }: PathOptions = {},
): ChartPath[] {
  const names = new Map<EventObject, string>();
  const nameOf = (event: EventObject): string => names.get(event) ?? event.type;
  const situation = (snapshot: AnyMachineSnapshot): unknown => [
    snapshot.value,
    snapshot.status,
    fingerprint(snapshot),
  ];
  const paths = getShortestPaths(chart, {
    input,
    events: (snapshot) =>
      Object.entries(happenings)
        .filter(([, { in: isPossible = () => true }]) => isPossible(snapshot))
        .map(([name, { event }]) => {
          const heard = { ...(typeof event === 'function' ? event(snapshot) : event) };
          names.set(heard, name);
          return heard;
        }),
    serializeEvent: nameOf,
    serializeState: (snapshot, event, previous) =>
      JSON.stringify([
        previous && situation(previous),
        event && nameOf(event),
        situation(snapshot),
      ]),
    stopWhen: ({ status }) => status !== 'active',
  });
  const walks = paths.map(({ steps }) =>
    steps.flatMap(({ event, state }) => {
      const name = names.get(event);
      return name === undefined ? [] : [{ name, value: state.value }];
    }),
  );
  const told = walks.map((steps) => ({
    title: steps.map(({ name }) => name).join(', then ') || 'nothing happens',
    steps,
  }));
  return told.filter(({ title }) => !told.some((other) => other.title.startsWith(`${title}, `)));
}

/** Returns the states without states in them that no path comes to rest in, by the names on their way. */
function unreachedStates(chart: AnyStateMachine, paths: readonly ChartPath[]): string[] {
  const begun = chart.root.initial?.target.map(({ path }) => path.join('.')) ?? [];
  const reached = paths.flatMap(({ steps }) => steps.flatMap(({ value }) => leavesOf(value)));
  return leavesUnder(chart.root).filter((leaf) => ![...begun, ...reached].includes(leaf));
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

/** Tells of the actors that run a chart, whoever creates them; asked for before that. Ends with the test. */
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

/**
 * Registers tests that walk every shortest path of a chart through the real thing that runs it, and look after each step
 * whether the newest actor of the chart stands where the chart says.
 *
 * @param open starts the real thing, to which nothing has happened; the actors are those that run the chart
 */
export function walkChart<World>(
  chart: AnyStateMachine,
  happenings: Happenings<World>,
  open: (actors: readonly AnyActorRef[]) => World | Promise<World>,
  options: WalkOptions<World> = {},
): void {
  const paths = shortestPathsOf(chart, happenings, options);

  it('reach every state', () => {
    expect(unreachedStates(chart, paths)).toEqual(options.passing ?? []);
  });

  it.each(paths)('$title', async ({ steps }) => {
    const actors = watchActorsOf(chart);
    const world = await open(actors);
    for (const { name, value } of steps) {
      await happenings[name]?.happen(world);
      await vi.waitFor(async () => {
        expect(actors.at(-1)?.getSnapshot().value).toEqual(value);
        await options.look?.(world, value);
      }, soon);
    }
  });
}
