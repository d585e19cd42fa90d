import { join } from 'node:path';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import type { AskingThread, QueryAnswer, Question } from './query-worker.ts';

/** Milliseconds after which the thread that asks the database is taken for dead. */
const patience = 60_000;

let thread: AskingThread | null = null;

/** Queries a PostgreSQL synchronously, like reading a file. Throws the text of an error. */
export function queryAtOnce(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Record<string, unknown>[] {
  thread ??= startThread();
  const { port, woken } = thread;
  Atomics.store(woken, 0, 0);
  port.postMessage({ url, sql, values } satisfies Question);
  Atomics.wait(woken, 0, 0, patience);
  const answer = answerAt(port);
  if (answer === null) throw new Error(`no answer from ${url} after a minute`);
  if ('error' in answer) throw new Error(`${answer.error}: ${sql}`);
  return answer.rows;
}

function answerAt(port: MessagePort): QueryAnswer | null {
  const received = receiveMessageOnPort(port) as { message: QueryAnswer } | undefined;
  return received?.message ?? null;
}

/** Starts the thread that waits for the database, as this one cannot; it ends with the process. */
function startThread(): AskingThread {
  const { port1: own, port2: port } = new MessageChannel();
  const woken = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(join(import.meta.dirname, 'query-worker.ts'), {
    workerData: { port, woken } satisfies AskingThread,
    transferList: [port],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  worker.unref();
  own.unref();
  return { port: own, woken };
}
