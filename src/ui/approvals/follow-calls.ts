import { sentenceOf } from '../dashboard/api/sentence-of.ts';
import type { ApprovalsClient } from './approvals-client.ts';
import type { CallEvent } from './call-machine.ts';
import type { PageEvent } from './page-machine.ts';

/** Time between two reads of a visible page, in milliseconds. */
const pause = 5_000;

/** Time between two reads of the open call, in milliseconds: what arrives is shown before the person decides. */
const pauseOfCall = 1_000;

/** Reads the calls while the page is visible, and after each decision. Returns a function that stops reading. */
export function followCalls(client: ApprovalsClient, send: (event: PageEvent) => void): () => void {
  client.ended = () => send({ type: 'session.ended' });
  client.renewed = (left) => send({ type: 'session.renewed', left });
  if (client.left !== null) client.renewed(client.left);
  const { read, stop } = repeat(pause, async (signal) => {
    await client.calls(signal).then(
      (calls) => send({ type: 'calls.read', ...calls }),
      (error: unknown) => {
        if (!signal.aborted) send({ type: 'calls.failed', problem: sentenceOf(error) });
      },
    );
  });
  client.changed = read;
  return stop;
}

/** Reads one call while the page is visible, until it waits no more. Returns a function that stops reading. */
export function followCall(
  client: ApprovalsClient,
  id: string,
  send: (event: CallEvent) => void,
): () => void {
  let isFirst = true;
  const { stop } = repeat(pauseOfCall, async (signal) => {
    try {
      const call = await client.call(id, { signal, isRepeated: !isFirst });
      isFirst = false;
      if (!signal.aborted)
        send(call === null ? { type: 'call.gone' } : { type: 'call.read', call });
    } catch (error) {
      if (!signal.aborted) send({ type: 'call.failed', problem: sentenceOf(error) });
    }
  });
  return stop;
}

/** Calls `ask` again and again while the page is visible, one call at a time, and at once when it becomes visible. */
function repeat(
  every: number,
  ask: (signal: AbortSignal) => Promise<void>,
): { read: () => void; stop: () => void } {
  const left = new AbortController();
  const { signal } = left;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function next(): Promise<void> {
    clearTimeout(timer);
    if (!document.hidden) await ask(signal);
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(() => void next(), every);
  }

  const read = (): void => void next();
  document.addEventListener('visibilitychange', read, { signal });
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  // A push says that a call began to wait.
  serviceWorker?.addEventListener('message', read, { signal });
  read();
  return {
    read,
    stop() {
      left.abort();
      clearTimeout(timer);
    },
  };
}
