import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { fieldOf } from '../wire/field-of.ts';

/** The MCP requests that this daemon is answering, by session and ID. */
export class RequestsUnderWay {
  readonly #bySession = new Map<string, Map<unknown, Transport>>();

  /** Adds a request; returns a function that removes it. */
  add(session: string, id: unknown, transport: Transport): () => void {
    const requests = this.#bySession.get(session) ?? new Map<unknown, Transport>();
    this.#bySession.set(session, requests.set(id, transport));
    return () => {
      if (requests.get(id) !== transport) return;
      requests.delete(id);
      if (requests.size === 0 && this.#bySession.get(session) === requests) {
        this.#bySession.delete(session);
      }
    };
  }

  /**
   * Forwards a cancel notification to the transport that answers the request. Returns true if the request is at this
   * daemon.
   */
  cancel(session: string, notification: object): boolean {
    const id = fieldOf(fieldOf(notification, 'params'), 'requestId');
    const transport = this.#bySession.get(session)?.get(id);
    transport?.onmessage?.(notification as JSONRPCMessage);
    return transport !== undefined;
  }

  /** Ends every request of a session as if its client had disconnected. */
  end(session: string): void {
    for (const transport of this.#bySession.get(session)?.values() ?? []) void transport.close();
    this.#bySession.delete(session);
  }
}
