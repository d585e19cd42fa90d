import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { UnreachableError } from '../store/task-store.ts';

/** No connection was available, so no statement was sent. */
export class UnconnectedError extends UnreachableError {}

/** Time for a connection to close cleanly, in milliseconds. */
const endPatience = 1_000;

/** Closes a connection cleanly, or drops it if the server does not respond. */
export async function endConnection(client: Client): Promise<void> {
  const timer = setTimeout(() => cutOff(client), endPatience);
  await client
    .end()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer));
}

/** Drops a connection immediately; pending queries are rejected. */
export function cutOff(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: Socket } };
  connection.stream.destroy();
}

/** The server does not respond on an open connection. */
export class SilenceError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the server does not answer');
  }
}

/** Settles like the promise. Rejects with SilenceError after `patience` milliseconds. */
export async function inTime<Answer>(answer: Promise<Answer>, patience: number): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  // After a long event-loop turn the response may have arrived without having been read.
  const timer = setTimeout(
    () => setImmediate(() => setImmediate(reject, new SilenceError())),
    patience,
  );
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
