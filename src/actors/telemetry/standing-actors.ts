import type { StatelyEvent } from './stately-event.ts';

interface Sent {
  /** Its place in the stream. */
  number: number;
  text: string;
}

/** How an actor was announced, and what was shown of it last. */
interface Standing {
  name: string;
  sent: Sent[];
  isActive: boolean;
}

/**
 * How the root and what it supervises stand, bounded in bytes, for those who join when the events that said so have
 * been let go. What rests or has ended is forgotten first, then what has shown nothing for longest.
 */
export class StandingActors {
  readonly #maximumBytes: number;
  /** By session, the one that was heard of last at the end. */
  readonly #standings = new Map<string, Standing>();
  /** The newest session of each name: a task that rests and wakes has another one each time. */
  readonly #sessions = new Map<string, string>();
  #bytes = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Takes in an event of the stream with the text that it is sent as. */
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

  /** Texts in the order of the stream. */
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
