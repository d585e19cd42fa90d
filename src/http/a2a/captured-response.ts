import { type IncomingMessage, ServerResponse } from 'node:http';

/** The response of an Express handler. */
export type Captured =
  | { kind: 'answer'; status: number; type: string; body: string | Buffer | null }
  | { kind: 'stream' };

/** A response that is captured instead of sent. */
export interface CapturedResponse {
  response: ServerResponse;
  /** Resolves with the response, or when an event stream begins. */
  answered: Promise<Captured>;
}

/** Receives the stream of a captured response; earlier writes are buffered. */
export interface StreamListener {
  onWritten: (text: string) => void;
  onEnded: () => void;
}

/**
 * Creates a response object for an Express handler, so that this server controls status, headers and streams itself.
 * `listen` is called for a listener when a stream begins.
 */
export function capturedResponse(
  request: IncomingMessage,
  listen: () => StreamListener,
): CapturedResponse {
  const response = new ServerResponse(request);
  const { promise: answered, resolve } = Promise.withResolvers<Captured>();
  let listener: StreamListener | null = null;
  // Express replaces the prototype of the response, so these must be own properties.
  Object.assign(response, {
    flushHeaders() {
      listener = listen();
      resolve({ kind: 'stream' });
    },
    write(text: string | Buffer) {
      listener?.onWritten(String(text));
      return true;
    },
    end(body?: string | Buffer) {
      if (listener !== null) listener.onEnded();
      const type = String(response.getHeader('Content-Type') ?? 'application/json');
      resolve({ kind: 'answer', status: response.statusCode, type, body: body ?? null });
      return response;
    },
  });
  return { response, answered };
}
