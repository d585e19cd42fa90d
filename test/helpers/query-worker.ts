import { type MessagePort, workerData } from 'node:worker_threads';
import pg from 'pg';

/** What is asked for: one statement, or several without values, at the address of a database. */
export interface Question {
  url: string;
  sql: string;
  values: readonly unknown[];
}

/** What the database answered, or the words of its error. */
export type QueryAnswer = { rows: Record<string, unknown>[] } | { error: string };

/** The way to the thread that asks, and what wakes it. */
export interface AskingThread {
  port: MessagePort;
  woken: Int32Array;
}

// Answers one thread, which blocks until then.
const { port, woken } = workerData as AskingThread;
const clients = new Map<string, pg.Client>();

async function clientOf(url: string): Promise<pg.Client> {
  const known = clients.get(url);
  if (known !== undefined) return known;
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  client.once('end', () => clients.delete(url));
  await client.connect();
  clients.set(url, client);
  return client;
}

async function answer({ url, sql, values }: Question): Promise<QueryAnswer> {
  try {
    const client = await clientOf(url);
    const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
    return { rows: rows ?? [] };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

port.on('message', (question: Question) => {
  void answer(question).then((answered) => {
    port.postMessage(answered);
    Atomics.store(woken, 0, 1);
    Atomics.notify(woken, 0);
  });
});
