import { getGlobalDispatcher } from 'undici';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';

/** What a file of tests could leave changed for the next one in its worker. */
function processState(): object {
  return {
    folder: process.cwd(),
    environment: { ...process.env },
    fetch: globalThis.fetch,
    dispatcher: getGlobalDispatcher(),
    tracing: tracingState(),
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
  };
}

/** What the interface of OpenTelemetry, one for all who load it, has been given. */
function tracingState(): string[] {
  const api: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  const given = Object.keys((api as object | undefined) ?? {}).filter((name) => name !== 'version');
  return given.toSorted();
}

let found: object;

beforeAll(() => {
  found = processState();
});

afterEach(() => void vi.useRealTimers());

afterAll(() => {
  expect(processState(), 'a file leaves its process as it found it').toEqual(found);
});
