import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { UnreachableError } from '../store/task-store.ts';

/** No connection was to be had, so that nothing was asked. */
export class UnconnectedError extends UnreachableError {}

/** The time that a connection may take to end in good order, in milliseconds. */
const endPatience = 1_000;

/** Ends a connection in good order, or without it when the server does not answer. */
export async function endConnection(client: Client): Promise<void> {
  const timer = setTimeout(() => cutOff(client), endPatience);
  await client
    .end()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
}

/** Ends a connection at once; whoever waits for an answer hears of its end. */
export function cutOff(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: Socket } };
  connection.stream.destroy();
}

/** A server that says nothing on a connection that stands. */
export class SilenceError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the server does not answer');
  }
}

/** Resolves as an answer does that comes in time, in milliseconds. Rejects with SilenceError when it does not. */
export async function inTime<Answer>(answer: Promise<Answer>, patience: number): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  // After a long turn of the event loop the answer may be there, and still to be read.
  const timer = setTimeout(
    () => setImmediate(() => setImmediate(reject, new SilenceError())),
    patience,
  );
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
