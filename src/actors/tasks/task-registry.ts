import {
  type ActorRefFrom,
  type AnyActor,
  type AnyActorRef,
  createActor,
  type InspectionEvent,
  type Observer,
} from 'xstate';
import { registryMachine } from '../../machines/registry/registry-machine.ts';
import type { Clock, Log } from '../ports.ts';
import type { TaskRows } from '../records/records.ts';
import type { LiveTask } from './live-task.ts';
import { createWatchDeadlines } from './watch-deadlines.ts';

/** A task whose actor broke. */
export interface BrokenTask {
  actorId: string;
  error: unknown;
}

/** What the registry needs. */
export interface TaskRegistryPorts {
  /** Where deadlines are found; `null` where somebody else watches them. */
  rows: TaskRows | null;
  clock: Clock;
  log: Log;
  inspect?: Observer<InspectionEvent>;
  /** Returns the live task of an id, which takes in every transition of its actor. */
  find: (id: string) => LiveTask | undefined;
  /** Has a task whose deadline has come go on. */
  wake: (id: string) => void;
  /** Ends a task whose actor broke. */
  bury: (broken: BrokenTask) => void;
}

/** The actor that every live task is a child of: it takes tasks in, watches their deadlines and buries those that break. */
export class TaskRegistry {
  readonly actor: ActorRefFrom<typeof registryMachine>;

  constructor({ rows, clock, log, inspect, find, wake, bury }: TaskRegistryPorts) {
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
    // A snapshot tells where a turn has led; the states on the way are told by its steps alone.
    this.actor.system.inspect({
      next: (inspected) => {
        if (inspected.type !== '@xstate.microstep') return;
        const { actorRef } = inspected;
        if (actorRef !== this.actor) find((actorRef as AnyActor).id)?.moved(inspected);
      },
    });
    this.actor.subscribe({ error: (error) => log.error({ error }, 'registry: failed') });
  }

  /** Takes tasks in, and watches the deadlines of all from now on. */
  start(): void {
    this.actor.start();
    this.actor.send({ type: 'registry.accept' });
  }

  /** Tells whether new tasks are taken in. */
  get isAccepting(): boolean {
    return this.actor.getSnapshot().hasTag('accepting');
  }

  /** Tells whether what a restart interrupted is still being dealt with. */
  get isStarting(): boolean {
    return this.actor.getSnapshot().hasTag('starting');
  }

  /** Takes in no more tasks. */
  drain(): void {
    this.actor.send({ type: 'registry.drain' });
  }

  /** Watches a deadline of a task that is on disk, in epoch milliseconds. */
  watchDeadline(at: number): void {
    this.actor.getSnapshot().children.deadlines?.send({ type: 'deadline.known', at });
  }

  /** Stops the actor of a task. */
  rest(task: AnyActorRef): void {
    this.actor.send({ type: 'task.rest', ref: task });
  }

  /** Stops watching, and every actor that is left. */
  stop(): void {
    this.actor.stop();
  }
}

/**
 * XState keeps for good what each type of event leads to in a state, and the type that says that a child is done names the
 * child: asked about every task that ends, a chart would grow with each.
 */
function unmovedByEnds(chart: typeof registryMachine): typeof registryMachine {
  const transition = chart.transition.bind(chart);
  chart.transition = (snapshot, event, scope) =>
    event.type.startsWith('xstate.done.actor.') ? snapshot : transition(snapshot, event, scope);
  return chart;
}
