import {
  type ActorRefFrom,
  type AnyActorRef,
  createActor,
  fromCallback,
  type InspectionEvent,
  type Observer,
} from 'xstate';
import { type DeadlineEvent, registryMachine } from '../../machines/registry/registry-machine.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { TaskRows } from '../records/records.ts';

interface WatchDeadlinesPorts {
  rows: TaskRows;
  clock: Clock;
  log: Log;
  /** Notifies a task of its deadline; reloads the task if necessary. */
  wake: (id: string) => void;
}

/** Pause after a store failure, in milliseconds. */
const storePause = 5_000;

/** Maximum tasks woken per event-loop turn, so that requests are handled in between. */
const wokenAtOnce = 25;

/**
 * Creates the `watchDeadlines` port: a single timer for the earliest deadline in the store, however many tasks wait.
 */
export function createWatchDeadlines({ rows, clock, log, wake }: WatchDeadlinesPorts) {
  return fromCallback<DeadlineEvent>(({ receive }) => {
    let timer: unknown = null;
    let dueAt = Number.POSITIVE_INFINITY;
    let ring = (): void => undefined;
    let isStopped = false;

    const setAlarm = (at: number): void => {
      if (at >= dueAt || isStopped) return;
      clock.clearTimeout(timer);
      dueAt = at;
      timer = clock.setTimeout(() => ring(), at - clock.now());
    };
    const alarm = (): Promise<void> =>
      new Promise((resolve) => {
        ring = resolve;
        if (dueAt <= clock.now()) resolve();
      });
    const look = async (): Promise<void> => {
      const now = clock.now();
      const ids = await rows.overdue(now);
      for (let first = 0; first < ids.length && !isStopped; first += wokenAtOnce) {
        for (const id of ids.slice(first, first + wokenAtOnce)) wake(id);
        await new Promise((next) => setImmediate(next));
      }
      const next = await rows.nextDeadline(now);
      if (next !== null) setAlarm(next);
    };
    /** Runs one scan at a time; overlapping scans would wake the same tasks twice. */
    const watch = async (): Promise<void> => {
      while (!isStopped) {
        clock.clearTimeout(timer);
        // A deadline reported during the scan may be earlier than all in the store.
        dueAt = Number.POSITIVE_INFINITY;
        await look().catch((error: unknown) => {
          log.error({ error }, 'tasks: the deadlines cannot be read; retrying');
          setAlarm(clock.now() + storePause);
        });
        await alarm();
      }
    };

    receive(({ at }) => setAlarm(at));
    void watch();
    return () => {
      isStopped = true;
      clock.clearTimeout(timer);
    };
  });
}

/** A task whose actor failed. */
export interface BrokenTask {
  actorId: string;
  error: unknown;
}

export interface TaskRegistryPorts {
  /** Source of deadlines; `null` if the job engine watches them. */
  rows: TaskRows | null;
  clock: Clock;
  log: Log;
  inspect?: Observer<InspectionEvent>;
  /** Resumes a task whose deadline has passed. */
  wake: (id: string) => void;
  /** Ends a task whose actor failed. */
  bury: (broken: BrokenTask) => void;
}

/** Parent actor of every live task: accepts tasks, watches their deadlines and handles failed actors. */
export class TaskRegistry {
  readonly actor: ActorRefFrom<typeof registryMachine>;

  constructor({ rows, clock, log, inspect, wake, bury }: TaskRegistryPorts) {
    this.actor = createActor(
      unmovedByEnds(
        registryMachine.provide({
          actors:
            rows === null
              ? {}
              : { watchDeadlines: createWatchDeadlines({ rows, clock, log, wake }) },
          actions: { buryTask: (_, broken) => bury(broken) },
        }),
      ),
      { id: 'registry', ...(inspect === undefined ? {} : { inspect }) },
    );
    this.actor.subscribe({ error: (error) => log.error({ error }, 'registry: failed') });
  }

  /** Starts accepting tasks and watching all deadlines. */
  start(): void {
    this.actor.start();
    this.actor.send({ type: 'registry.accept' });
  }

  /** Returns whether new tasks are accepted. */
  get isAccepting(): boolean {
    return this.actor.getSnapshot().hasTag('accepting');
  }

  /** Returns whether recovery after a restart is still running. */
  get isStarting(): boolean {
    return this.actor.getSnapshot().hasTag('starting');
  }

  /** Stops accepting tasks. */
  drain(): void {
    this.actor.send({ type: 'registry.drain' });
  }

  /** Watches the deadline of a committed task, in epoch milliseconds. */
  watchDeadline(at: number): void {
    this.actor.getSnapshot().children.deadlines?.send({ type: 'deadline.known', at });
  }

  /** Stops the actor of a task. */
  rest(task: AnyActorRef): void {
    this.actor.send({ type: 'task.rest', ref: task });
  }

  /** Stops watching, and stops every remaining actor. */
  stop(): void {
    this.actor.stop();
  }
}

/**
 * Keeps done events away from the chart. XState permanently caches the transitions for each event type, and the type of
 * a done event contains the child's id, so the cache would grow with every task that ends.
 */
function unmovedByEnds(chart: typeof registryMachine): typeof registryMachine {
  const transition = chart.transition.bind(chart);
  chart.transition = (snapshot, event, scope) =>
    event.type.startsWith('xstate.done.actor.') ? snapshot : transition(snapshot, event, scope);
  return chart;
}
