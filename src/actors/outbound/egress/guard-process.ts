import { type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici';

/**
 * Makes the given dispatcher the default of fetch and undici in this process, and the given fetch the global one.
 * Returns a function that restores both.
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
