import type { StatelyEvent } from './stately-event.ts';

interface Sent {
  /** Its position in the stream. */
  number: number;
  text: string;
}

/** The announcement of an actor, and its latest snapshot. */
interface Standing {
  name: string;
  sent: Sent[];
  isActive: boolean;
}

/**
 * Current state of the root and its children, limited in bytes, for watchers that join after the original events were
 * dropped. Inactive actors are dropped first, then those without updates for the longest time.
 */
export class StandingActors {
  readonly #maximumBytes: number;
  /** By session id, least recently updated first. */
  readonly #standings = new Map<string, Standing>();
  /** Latest session of each name: a reloaded task gets a new session. */
  readonly #sessions = new Map<string, string>();
  #bytes = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Records an event of the stream with its serialised text. */
  note(event: StatelyEvent, text: string): void {
    const { id, rootId, sessionId } = event;
    const sent = { number: Number(id), text };
    if (event.type === '@xstate.actor') {
      if (event.parentId !== undefined && event.parentId !== rootId) return;
      this.#forget(this.#sessions.get(event.name));
      this.#keep(sessionId, { name: event.name, sent: [sent], isActive: true });
    } else if (event.type === '@xstate.snapshot') {
      const known = this.#standings.get(sessionId);
      if (known === undefined) return;
      this.#forget(sessionId);
      const isActive = event.snapshot.status === 'active';
      this.#keep(sessionId, { ...known, sent: [...known.sent.slice(0, 1), sent], isActive });
    }
  }

  /** Returns the texts in the order of the stream. */
  all(): string[] {
    return [...this.#standings.values()]
      .flatMap(({ sent }) => sent)
      .toSorted((one, other) => one.number - other.number)
      .map(({ text }) => text);
  }

  #keep(sessionId: string, standing: Standing): void {
    this.#standings.set(sessionId, standing);
    this.#sessions.set(standing.name, sessionId);
    this.#bytes += bytesOf(standing);
    while (this.#bytes > this.#maximumBytes) this.#forget(this.#leastWanted());
  }

  #forget(sessionId: string | undefined): void {
    const standing = sessionId === undefined ? undefined : this.#standings.get(sessionId);
    if (sessionId === undefined || standing === undefined) return;
    this.#bytes -= bytesOf(standing);
    this.#standings.delete(sessionId);
    this.#sessions.delete(standing.name);
  }

  #leastWanted(): string | undefined {
    let oldest: string | undefined;
    for (const [sessionId, { isActive }] of this.#standings) {
      if (!isActive) return sessionId;
      oldest ??= sessionId;
    }
    return oldest;
  }
}

function bytesOf({ sent }: Standing): number {
  return sent.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0);
}
