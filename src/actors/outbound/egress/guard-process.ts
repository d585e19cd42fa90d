import { type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici';

/**
 * Makes a dispatcher the one that fetch and undici use in this process when they are given none, and a
 * fetch the global one. Returns what puts both back.
 */
export function guardProcess({
  dispatcher,
  fetch,
}: {
  dispatcher: Dispatcher;
  fetch: typeof globalThis.fetch;
}): () => void {
  const before = { dispatcher: getGlobalDispatcher(), fetch: globalThis.fetch };
  setGlobalDispatcher(dispatcher);
  globalThis.fetch = fetch;
  return () => {
    setGlobalDispatcher(before.dispatcher);
    globalThis.fetch = before.fetch;
  };
}
