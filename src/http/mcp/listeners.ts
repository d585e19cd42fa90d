import type { EventStream } from '../wire/sse.ts';

/** A client that listens for what the agent sends without being asked. */
interface Listener {
  /** Whoever it counts for. */
  share: string;
  stream: Pick<EventStream, 'send' | 'end'>;
}

/** How many streams one caller may have open; a further one ends the oldest. */
const mostOfShare = 100;

/** The streams of MCP clients that listen, one for each session. */
export class Listeners {
  readonly #bySession = new Map<string, Listener>();

  /** Adds the stream of a session in place of an earlier one. Returns a function that removes it. */
  add(session: string, listener: Listener): () => void {
    this.end(session);
    const ofShare = [...this.#bySession].filter(([, { share }]) => share === listener.share);
    const [oldest] = ofShare;
    if (oldest !== undefined && ofShare.length >= mostOfShare) this.end(oldest[0]);
    this.#bySession.set(session, listener);
    return () => {
      if (this.#bySession.get(session) === listener) this.#bySession.delete(session);
    };
  }

  /** Ends the stream of a session. */
  end(session: string): void {
    this.#bySession.get(session)?.stream.end();
    this.#bySession.delete(session);
  }

  /** Sends a notification to every client that listens. */
  notify(method: string): void {
    for (const { stream } of this.#bySession.values()) {
      stream.send({ event: 'message', data: { jsonrpc: '2.0', method } });
    }
  }
}
