import { sentenceOf } from '../dashboard/api/sentence-of.ts';
import type { ApprovalsClient } from './approvals-client.ts';
import type { PageEvent } from './page-machine.ts';

/** Time between two reads of a visible page, in milliseconds. */
const pause = 5_000;

/** Reads the calls while the page is visible, and after each decision. Returns a function that stops reading. */
export function followCalls(client: ApprovalsClient, send: (event: PageEvent) => void): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function read(): Promise<void> {
    clearTimeout(timer);
    if (!document.hidden) {
      await client.calls(signal).then(
        (calls) => send({ type: 'calls.read', ...calls }),
        (error: unknown) => {
          if (!signal.aborted) send({ type: 'calls.failed', problem: sentenceOf(error) });
        },
      );
    }
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(() => void read(), pause);
  }

  client.ended = () => send({ type: 'session.ended' });
  client.changed = () => void read();
  document.addEventListener('visibilitychange', () => void read(), { signal });
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  // A push says that a call began to wait.
  serviceWorker?.addEventListener('message', () => void read(), { signal });
  void read();
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
