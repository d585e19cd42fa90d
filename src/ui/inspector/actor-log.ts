import type { Inspection, SentEvent, ShownSnapshot } from './inspection.ts';
import { activePaths, type Chart, lineOf, readChart } from './state-tree.ts';

/** Something that was sent to an actor, and what became of the actor. */
export interface Entry {
  /** Counts the entries of a log, from 1. */
  number: number;
  /** Epoch milliseconds. */
  at: number;
  /** Whom it is about: the name of a task, or of what stands beside the tasks. */
  group: string;
  /** Who sent it; empty for whoever is outside. */
  from: string;
  to: string;
  event: SentEvent;
  before: string;
  /** Empty until the actor has taken the event in. */
  after: string;
  snapshot: ShownSnapshot | null;
}

/** A task as its actors have shown it, or what stands beside the tasks. */
export interface Group {
  name: string;
  isTask: boolean;
  chart: Chart;
  /** The newest value of its own chart. */
  value: unknown;
  status: string;
  /** Every state it has been in, by its path. */
  been: Set<string>;
  /** Epoch milliseconds of its newest event. */
  at: number;
}

interface Actor {
  name: string;
  group: Group;
  isTop: boolean;
  standing: string;
  /** What it was sent and has not taken in, oldest first: an actor may be sent the next event while it takes one in. */
  pending: Entry[];
}

/** How much a log keeps; the oldest goes first. */
const most = { entries: 2_000, actors: 2_000, groups: 500, pending: 50 };

/** What the stream has told, newest last and bounded, whatever daemon told it. */
export class ActorLog {
  entries: Entry[] = [];
  readonly groups = new Map<string, Group>();
  readonly #actors = new Map<string, Actor>();
  /** When each event came about, by its id: a stream that is joined again repeats its newest. */
  readonly #seen = new Map<string, string>();
  #run = 0;
  #count = 0;

  /** Takes in one event. */
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

  /** Forgets what happened, but not who is there. */
  clear(): void {
    this.entries = [];
  }

  /** False for an event that is known already. Ids that begin anew are those of another daemon. */
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

  /** An actor that began before the stream was joined is known by its session alone. */
  #actorOf(sessionId: string): Actor {
    const known = this.#actors.get(this.#key(sessionId));
    if (known !== undefined) return known;
    const group = this.#groupOf(sessionId, { id: '', description: '', states: [] });
    const actor = { name: sessionId, group, isTop: true, standing: '', pending: [] };
    this.#actors.set(this.#key(sessionId), actor);
    return actor;
  }

  /** A task that rests and wakes has another actor each time, and stays the same. */
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

/** Names the state that invoked an actor by its last word: `0.task.working.thinking` is `thinking`. */
export function shortName(name: string): string {
  return name.replace(/(^|\.)\d+\.(?:[^.]+\.)+([^.]+)$/, '$1$2');
}

function forgetOldest(kept: Map<string, unknown>, limit: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= limit) return;
    kept.delete(key);
  }
}
