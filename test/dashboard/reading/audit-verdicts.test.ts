import { expect, it } from 'vitest';
import { AuditVerdicts, type Verify } from '../../../src/dashboard/reading/audit-verdicts.ts';

const { signal } = new AbortController();
const log = { name: 'audit.ndjson', state: 'one line' };

/** Counts how often a log is verified. */
function counted() {
  let count = 0;
  const verify: Verify = () => {
    count += 1;
    return Promise.resolve({ ok: true, events: count });
  };
  return { verify, verdicts: new AuditVerdicts(), count: () => count };
}

/** A verification that continues until its signal aborts. */
function endless() {
  const { promise: stopped, resolve } = Promise.withResolvers<string>();
  const verify: Verify = (left) => {
    left.addEventListener('abort', () => resolve('stopped'));
    return new Promise(() => undefined);
  };
  return { verify, stopped };
}

it('a log is verified once for its content, for any number of callers', async () => {
  const { verify, verdicts, count } = counted();
  const asked = await Promise.all([
    verdicts.of(log, verify, signal),
    verdicts.of(log, verify, signal),
  ]);
  expect([...asked, await verdicts.of(log, verify, signal)]).toEqual(
    Array(3).fill({ ok: true, events: 1 }),
  );
  await verdicts.of({ ...log, state: 'two lines' }, verify, signal);
  expect(count()).toBe(2);
});

it('the logs of two folders are distinguished', async () => {
  const { verify, verdicts, count } = counted();
  for (const name of ['one', 'other', 'one', 'other']) {
    await verdicts.of({ ...log, name }, verify, signal);
  }
  expect(count()).toBe(2);
});

it('a failed verification is not cached', async () => {
  const { verify, verdicts } = counted();
  const failing: Verify = () => Promise.reject(new Error('the disk is gone'));
  await expect(verdicts.of(log, failing, signal)).rejects.toThrow('the disk is gone');
  expect(await verdicts.of(log, verify, signal)).toEqual({ ok: true, events: 1 });
});

it('a verification stops when its last caller has disconnected, and starts again for the next', async () => {
  const verdicts = new AuditVerdicts();
  const { verify, stopped } = endless();
  const [first, last] = [new AbortController(), new AbortController()];
  const asked = [first, last].map((left) => verdicts.of(log, verify, left.signal));
  const left = Promise.allSettled(asked);
  first.abort(new Error('gone'));
  const isOver = await Promise.race([stopped, Promise.resolve('going on')]);
  last.abort(new Error('gone'));
  expect([isOver, await stopped]).toEqual(['going on', 'stopped']);
  expect((await left).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const again = counted();
  expect(await verdicts.of(log, again.verify, signal)).toEqual({ ok: true, events: 1 });
});
