import { subscribe } from 'node:diagnostics_channel';
import { afterEach, beforeAll } from 'vitest';

/** What Node tells of when it happens, in words. */
const happenings = {
  child_process: 'starts a process',
  'net.client.socket': 'opens a connection',
  'tracing:net.server.listen:asyncStart': 'listens',
  'udp.socket': 'opens a socket',
} as const;

const watched: { happened: Set<string> } = ((globalThis as any)[Symbol.for('pure-tripwire')] ??=
  watch());

/** Subscribes once for a worker, which runs many files one after the other. */
function watch(): { happened: Set<string> } {
  const happened = new Set<string>();
  for (const [name, what] of Object.entries(happenings)) subscribe(name, () => happened.add(what));
  return { happened };
}

beforeAll(() => watched.happened.clear());

afterEach(({ task }) => {
  const [what] = watched.happened;
  watched.happened.clear();
  if (what === undefined) return;
  throw new Error(
    `a test of the project "pure" ${what}: ${task.file.name}; test/tooling/kinds-of-tests.ts says what makes a file one of "sockets" or "processes"`,
  );
});
