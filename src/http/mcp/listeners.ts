import type { EventStream } from '../wire/sse.ts';

/** A client with an open stream for server notifications. */
interface Listener {
  /** The caller to which the stream is counted. */
  share: string;
  stream: Pick<EventStream, 'send' | 'end'>;
  /** Returns a digest of the caller's tools. */
  tools: () => string;
}

/** Maximum number of open streams per caller; a further stream closes the oldest. */
const mostOfShare = 100;

/** The notification streams of MCP clients, one per session or subscription. */
export class Listeners {
  readonly #bySession = new Map<string | symbol, Listener & { known: string }>();

  /** Adds a session's stream and replaces an earlier one. Returns a function that removes it. */
  add(session: string | symbol, listener: Listener): () => void {
    this.end(session);
    const ofShare = [...this.#bySession].filter(([, { share }]) => share === listener.share);
    const [oldest] = ofShare;
    if (oldest !== undefined && ofShare.length >= mostOfShare) this.end(oldest[0]);
    const added = { ...listener, known: listener.tools() };
    this.#bySession.set(session, added);
    return () => {
      if (this.#bySession.get(session) === added) this.#bySession.delete(session);
    };
  }

  /** Ends the stream of a session. */
  end(session: string | symbol): void {
    this.#bySession.get(session)?.stream.end();
    this.#bySession.delete(session);
  }

  /** Notifies every client whose tools differ from those at its last notification. */
  toolsChanged(): void {
    for (const listener of this.#bySession.values()) {
      const now = listener.tools();
      if (now === listener.known) continue;
      listener.known = now;
      const method = 'notifications/tools/list_changed';
      listener.stream.send({ event: 'message', data: { jsonrpc: '2.0', method } });
    }
  }
}
