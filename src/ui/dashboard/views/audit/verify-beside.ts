import type { Finding, Verify } from './verify-stream.ts';
import type { VerifierNews } from './verify-worker.ts';
// oxlint-disable-next-line import/default -- Vite makes the export.
import workerAddress from './verify-worker.ts?worker&url';

interface Policy {
  createScriptURL: (url: string) => string;
}

/** A browser with Trusted Types only starts workers with a policy; this policy accepts one URL. */
let policy: Policy | null = null;

function addressOfWorker(): string {
  const types = Reflect.get(globalThis, 'trustedTypes') as
    | { createPolicy: (name: string, rules: Policy) => Policy }
    | undefined;
  const rules: Policy = { createScriptURL: () => workerAddress };
  policy ??= types?.createPolicy('holdpoint-verifier', rules) ?? rules;
  return policy.createScriptURL('');
}

/** Verifies in a worker. The worker and its download end with the job or when the signal aborts. */
export const verifyBeside: Verify = (job, progress, signal) => {
  const { promise, resolve, reject } = Promise.withResolvers<Finding>();
  signal.throwIfAborted();
  const worker = new Worker(addressOfWorker(), { type: 'module' });
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  worker.onmessage = ({ data: news }: MessageEvent<VerifierNews>) => {
    if (news.type === 'progress') progress(news.lines);
    else if (news.type === 'found') resolve(news.finding);
    else reject(new Error(news.problem));
  };
  worker.onerror = () => reject(new Error('The verifier could not start. Reload the page.'));
  worker.postMessage(job);
  return promise.finally(() => {
    signal.removeEventListener('abort', stop);
    worker.terminate();
  });
};
