import type { Inspection, SentEvent, ShownSnapshot } from './inspection.ts';
import { activePaths, type Chart, lineOf, readChart } from './state-tree.ts';

/** An event sent to an actor, and the resulting state. */
export interface Entry {
  /** Number of the entry in the log, from 1. */
  number: number;
  /** Epoch milliseconds. */
  at: number;
  /** The task's name, or the name of an actor outside of the tasks. */
  group: string;
  /** The sender; empty for an external one. */
  from: string;
  to: string;
  event: SentEvent;
  before: string;
  /** Empty until the actor has processed the event. */
  after: string;
  snapshot: ShownSnapshot | null;
}

/** A task as shown by its actors, or an actor outside of the tasks. */
export interface Group {
  name: string;
  isTask: boolean;
  chart: Chart;
  /** The latest value of its own chart. */
  value: unknown;
  status: string;
  /** Every state that it has been in, by path. */
  been: Set<string>;
  /** Epoch milliseconds of its latest event. */
  at: number;
}

interface Actor {
  name: string;
  group: Group;
  isTop: boolean;
  standing: string;
  /**
   * Sent events that it has not processed yet, oldest first. An actor may receive the next event while processing one.
   */
  pending: Entry[];
}

/** Limits of a log; the oldest entries are dropped first. */
const most = { entries: 2_000, actors: 2_000, groups: 500, pending: 50 };

/** The events of the stream, newest last and limited, across restarts of the daemon. */
export class ActorLog {
  entries: Entry[] = [];
  readonly groups = new Map<string, Group>();
  readonly #actors = new Map<string, Actor>();
  /** Creation time of each event by ID, because a rejoined stream repeats its latest events. */
  readonly #seen = new Map<string, string>();
  #run = 0;
  #count = 0;

  /** Adds one event. */
  add(inspection: Inspection): void {
    if (!this.#isNew(inspection)) return;
    switch (inspection.type) {
      case '@xstate.actor':
        return this.#announce(inspection);
      case '@xstate.event':
        return this.#note(inspection);
      case '@xstate.snapshot':
        return this.#settle(inspection);
    }
  }

  /** Clears the entries but keeps the actors. */
  clear(): void {
    this.entries = [];
  }

  /** Returns false for a known event. An ID with another time comes from another daemon. */
  #isNew({ id, createdAt }: Inspection): boolean {
    const known = this.#seen.get(id);
    if (known === createdAt) return false;
    if (known !== undefined) {
      this.#run += 1;
      this.#seen.clear();
    }
    this.#seen.set(id, createdAt);
    forgetOldest(this.#seen, most.entries * 3);
    return true;
  }

  #announce(inspection: Inspection & { type: '@xstate.actor' }): void {
    const { sessionId, parentId, rootId, name, definition } = inspection;
    const isTop = parentId === undefined || parentId === rootId;
    const group = isTop
      ? this.#groupOf(name, readChart(definition))
      : this.#actorOf(parentId).group;
    group.at = Number(inspection.createdAt);
    this.#actors.set(this.#key(sessionId), { name, group, isTop, standing: '', pending: [] });
    forgetOldest(this.#actors, most.actors);
  }

  #note({ sessionId, sourceId, createdAt, event }: Inspection & { type: '@xstate.event' }): void {
    const actor = this.#actorOf(sessionId);
    const from = sourceId === undefined ? '' : shortName(this.#actorOf(sourceId).name);
    actor.pending.push(this.#push(actor, { at: Number(createdAt), from, event }));
    if (actor.pending.length > most.pending) actor.pending.shift();
  }

  #settle(inspection: Inspection & { type: '@xstate.snapshot' }): void {
    const { sessionId, createdAt, event, snapshot } = inspection;
    const actor = this.#actorOf(sessionId);
    const { group } = actor;
    const line = lineOf(snapshot.value);
    const entry =
      takeSent(actor, event) ?? this.#push(actor, { at: Number(createdAt), from: '', event });
    entry.before = actor.standing;
    entry.after = line === '' ? snapshot.status : line;
    entry.snapshot = snapshot;
    actor.standing = entry.after;
    if (!actor.isTop) return;
    group.value = snapshot.value;
    group.status = snapshot.status;
    group.at = Number(createdAt);
    for (const path of activePaths(snapshot.value)) group.been.add(path);
  }

  #push(actor: Actor, { at, from, event }: Pick<Entry, 'at' | 'from' | 'event'>): Entry {
    this.#count += 1;
    const entry: Entry = {
      number: this.#count,
      at,
      group: actor.group.name,
      from,
      to: shortName(actor.name),
      event,
      before: actor.standing,
      after: '',
      snapshot: null,
    };
    this.entries.push(entry);
    if (this.entries.length > most.entries) this.entries.splice(0, most.entries / 10);
    return entry;
  }

  /** An actor started before the stream was joined is known only by its session ID. */
  #actorOf(sessionId: string): Actor {
    const known = this.#actors.get(this.#key(sessionId));
    if (known !== undefined) return known;
    const group = this.#groupOf(sessionId, { id: '', description: '', states: [] });
    const actor = { name: sessionId, group, isTop: true, standing: '', pending: [] };
    this.#actors.set(this.#key(sessionId), actor);
    return actor;
  }

  /** A task that is parked and resumed has a new actor each time but remains the same group. */
  #groupOf(name: string, chart: Chart): Group {
    const known = this.groups.get(name);
    if (known !== undefined) return known;
    const group: Group = {
      name,
      isTask: chart.id === 'task',
      chart,
      value: undefined,
      status: 'active',
      been: new Set(),
      at: 0,
    };
    this.groups.set(name, group);
    forgetOldest(this.groups, most.groups);
    return group;
  }

  #key(sessionId: string): string {
    return `${this.#run}/${sessionId}`;
  }
}

function takeSent({ pending }: Actor, { type }: SentEvent): Entry | undefined {
  const index = pending.findIndex(({ event }) => event.type === type);
  return index < 0 ? undefined : pending.splice(index, 1)[0];
}

/** Shortens the ID of an invoking state to its last part: `0.task.working.thinking` becomes `thinking`. */
export function shortName(name: string): string {
  return name.replace(/(^|\.)\d+\.(?:[^.]+\.)+([^.]+)$/, '$1$2');
}

function forgetOldest(kept: Map<string, unknown>, limit: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= limit) return;
    kept.delete(key);
  }
}
