import { type IncomingMessage, ServerResponse } from 'node:http';

/** The answer of a handler made for Express. */
export type Captured =
  | { kind: 'answer'; status: number; type: string; body: string | Buffer | null }
  | { kind: 'stream' };

/** A response that is captured instead of sent. */
export interface CapturedResponse {
  response: ServerResponse;
  /** Resolves with the answer, or once a stream of events begins. */
  answered: Promise<Captured>;
}

/** Listens to the stream of a captured response; earlier writes are buffered. */
export interface StreamListener {
  onWritten: (text: string) => void;
  onEnded: () => void;
}

/**
 * Makes a response for a handler of Express to write to, so that status, headers and streams go out by our
 * own rules. `listen` is asked for a listener when a stream begins.
 */
export function capturedResponse(
  request: IncomingMessage,
  listen: () => StreamListener,
): CapturedResponse {
  const response = new ServerResponse(request);
  const { promise: answered, resolve } = Promise.withResolvers<Captured>();
  let listener: StreamListener | null = null;
  // Express gives the response another prototype, so these have to be its own.
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
