import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PushNotifications } from '../../../../src/actors/outbound/push/push-notifications.ts';
import type { EgressMode } from '../../../../src/actors/ports/egress.ts';
import { type PushTarget, PushTargetError } from '../../../../src/actors/ports/push.ts';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type { Task, TaskState } from '../../../../src/machines/domain/task.ts';
import { mostAttempts, pauseAfter } from '../../../../src/machines/push/push-delivery-machine.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { prompt } from '../../../helpers/patient.ts';
import { aPushTarget } from '../../../helpers/push-target.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';
import { WebhookReceiver } from '../../../helpers/webhook-receiver.ts';
import { aServer } from '../egress/a-server.ts';
import { anEgress } from '../egress/an-egress.ts';

let receiver: WebhookReceiver;
let store: SqliteStore;
let clock: ManualClock;
const undo: (() => unknown)[] = [];

beforeEach(async () => {
  receiver = await WebhookReceiver.open();
  store = await openStore(temporaryFolder());
  clock = new ManualClock(0);
});

afterEach(async () => {
  for (const step of undo.splice(0)) await step();
  await store.close();
  await receiver.close();
});

/** The receivers of the agent of a test, as they are after a start of it. */
function startPush(
  names: Record<string, string[]> = {},
  more: Parameters<typeof anEgress>[0] = {},
) {
  const logged: unknown[] = [];
  const noted = (fields: object, message: string) => void logged.push([fields, message]);
  const { egress, records } = anEgress({ names, ...more });
  const push = new PushNotifications({
    rows: store.push,
    find: (id) => store.rows.find(id),
    write: async ({ state, revision }, version) => ({
      body: JSON.stringify({ state, revision, version }),
      contentType: 'application/json',
    }),
    egress,
    clock,
    log: { info: noted, warn: noted, error: noted },
  });
  undo.push(() => push.stop());
  return { push, logged, records, names };
}

/** Puts a task on disk. */
async function keep(state: TaskState, revision: number): Promise<Task> {
  const task = aTask({ state, revision });
  void store.save(task.id, () => aWrite(task));
  expect(await store.flush()).toBeNull();
  return task;
}

const hook = (path = '/a', host = 'hook.example.test') => `http://${host}:${receiver.port}${path}`;
const target = (more: Partial<PushTarget> = {}) => aPushTarget({ url: hook(), ...more });

/** The posts to a receiver, in order. */
async function told(count: number, path = '/a'): Promise<[TaskState, number, unknown][]> {
  const notes = await receiver.received(path, count);
  return notes.map(({ body, answered }) => [body.state, body.revision, answered]);
}

/** Resolves once a delivery waits to try again. */
const paused = () => vi.waitUntil(() => clock.pending === 1, { timeout: 5_000, interval: 1 });

/** Resolves once the store knows how many receivers are behind. */
const left = (count: number) =>
  vi.waitUntil(async () => (await store.push.open()).length === count, {
    timeout: 5_000,
    interval: 1,
  });

describe('push notifications', () => {
  it('post each change once and in order, after any first answers', async () => {
    const { push } = startPush();
    receiver.answer('/a', 500, 'reset', 302, 200);
    await push.set(target());
    for (const [revision, state] of (['working', 'deferred', 'completed'] as const).entries()) {
      push.changed(await keep(state, revision + 1));
    }
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await paused();
      clock.advance(pauseAfter(attempt));
    }
    expect(await told(6)).toEqual([
      ['working', 1, 500],
      ['working', 1, 'reset'],
      ['working', 1, 302],
      ['working', 1, 200],
      ['deferred', 2, 200],
      ['completed', 3, 200],
    ]);
    await left(0);
  });

  it("carry the receiver's token, authenticate there, and use its protocol version", async () => {
    const { push } = startPush();
    await push.set(target({ version: '0.3' }));
    push.changed(await keep('working', 1));
    const [note] = await receiver.received('/a', 1);
    const { authorization, 'content-type': type, ...headers } = note?.headers ?? {};
    expect([authorization, type, headers['x-a2a-notification-token'], note?.body]).toEqual([
      'Bearer canary-credentials',
      'application/json',
      'canary-token',
      { state: 'working', revision: 1, version: '0.3' },
    ]);
  });

  it('carry neither header for a receiver without settings', async () => {
    const { push } = startPush();
    const authentication = { scheme: 'Bearer', credentials: '' };
    await push.set(target({ token: '', authentication }));
    push.changed(await keep('working', 1));
    const [note] = await receiver.received('/a', 1);
    expect(Object.keys(note?.headers ?? {}).toSorted()).toEqual(
      expect.not.arrayContaining(['authorization', 'x-a2a-notification-token']),
    );
  });

  it('continue for a replacement receiver where the old one stopped', async () => {
    const { push } = startPush();
    receiver.answer('/a', 500);
    await push.set(target());
    push.changed(await keep('working', 1));
    await paused();
    push.changed(await keep('completed', 2));
    await push.set(target({ url: hook('/b') }));
    expect(await told(1, '/b')).toEqual([['completed', 2, 200]]);
    await left(0);
    expect(await told(1)).toEqual([['working', 1, 500]]);
  });

  it('skip changes from before the subscription, and subscriptions after the end', async () => {
    const { push } = startPush();
    await keep('working', 1);
    await push.set(target());
    await keep('completed', 2);
    await push.set(target({ id: 'late', url: hook('/late') }));
    push.changed(aTask({ state: 'completed', revision: 2 }));
    expect(await told(1)).toEqual([['completed', 2, 200]]);
    await left(0);
    expect(receiver.all('/late')).toEqual([]);
  });

  it('stop when the receiver is deleted', async () => {
    const { push } = startPush();
    receiver.answer('/a', 500);
    await push.set(target());
    push.changed(await keep('working', 1));
    await paused();
    expect([await push.delete('t-1', 'a'), await push.delete('t-1', 'a')]).toEqual([true, false]);
    push.changed(await keep('completed', 2));
    expect([clock.pending, await push.list('t-1'), receiver.all('/a').length]).toEqual([0, [], 1]);
  });

  it('continue for a task that runs again', async () => {
    const { push } = startPush();
    await push.set(target());
    push.changed(await keep('completed', 1));
    await left(0);
    push.changed(await keep('working', 2));
    push.changed(await keep('failed', 3));
    expect(await told(3)).toEqual([
      ['completed', 1, 200],
      ['working', 2, 200],
      ['failed', 3, 200],
    ]);
    await left(0);
  });

  it('are given up after an hour, with a log line without secrets', async () => {
    const { push, logged, records } = startPush({ 'hook.example.test': ['10.0.0.1'] });
    const task = await keep('working', 1);
    await store.push.put(target(), 0);
    push.changed(task);
    for (let attempt = 1; attempt < mostAttempts; attempt += 1) {
      await paused();
      clock.advance(pauseAfter(attempt));
    }
    await vi.waitUntil(() => logged.length > 0, prompt);
    const error =
      'egress blocked: hook.example.test resolves to a private address (mode=allowlist)';
    expect(logged).toEqual([
      [{ task_id: 't-1', error }, 'push: a notification was given up after an hour'],
    ]);
    expect(JSON.stringify([logged, records])).not.toContain('canary');
  });
});

describe('a restart', () => {
  it('continues where it was left, with the current task', async () => {
    const before = startPush();
    receiver.answer('/a', 500);
    receiver.answer('/told', 200);
    await before.push.set(target());
    await before.push.set(target({ id: 'told', url: hook('/told') }));
    before.push.changed(await keep('working', 1));
    await paused();
    await told(1, '/told');
    await vi.waitUntil(
      async () => (await store.push.open()).some(({ told: at }) => at === 1),
      prompt,
    );
    await before.push.stop();
    await keep('deferred', 2);
    const after = startPush();
    after.push.start();
    expect(await told(2)).toEqual([
      ['working', 1, 500],
      ['deferred', 2, 200],
    ]);
    expect(await told(2, '/told')).toEqual([
      ['working', 1, 200],
      ['deferred', 2, 200],
    ]);
    after.push.changed(await keep('completed', 3));
    await left(0);
    expect((await told(3, '/told')).at(-1)).toEqual(['completed', 3, 200]);
  });

  it('posts missing changes of a task that has run again', async () => {
    const before = startPush();
    receiver.answer('/a', 200, 500);
    await before.push.set(target());
    before.push.changed(await keep('completed', 1));
    await left(0);
    before.push.changed(await keep('working', 2));
    await paused();
    await before.push.stop();
    await keep('failed', 3);
    const after = startPush();
    after.push.start();
    expect(await told(3)).toEqual([
      ['completed', 1, 200],
      ['working', 2, 500],
      ['failed', 3, 200],
    ]);
    await left(0);
  });

  it('repeats no delivered change, and none from before the subscription', async () => {
    const before = startPush();
    await keep('deferred', 1);
    await before.push.set(target());
    await before.push.stop();
    const after = startPush();
    after.push.start();
    after.push.changed(await keep('failed', 2));
    await left(0);
    const last = startPush();
    last.push.start();
    expect(await told(1)).toEqual([['failed', 2, 200]]);
  });

  it('posts to thousands of receivers in groups, and delays none for silent ones', async () => {
    const { port } = await aServer(() => undefined);
    await keep('completed', 1);
    for (let count = 0; count < 2_000; count += 1) {
      const url = `http://stuck-${count % 4}.example.test:${port}/`;
      await store.push.put(target({ id: `stuck-${count}`, url }), 0);
    }
    await store.push.put(target({ id: 'well' }), 0);
    const { push, records } = startPush();
    push.start();
    expect(await told(1)).toEqual([['completed', 1, 200]]);
    const underway = records.filter(({ domain }) => domain.startsWith('stuck'));
    expect(underway).toHaveLength(4 * 8);
  });

  it('posts once a change that arrives during the start', async () => {
    await keep('working', 1);
    await store.push.put(target(), 1);
    const { push } = startPush();
    push.changed(await keep('failed', 2));
    push.start();
    await left(0);
    expect(await told(1)).toEqual([['failed', 2, 200]]);
  });

  it('posts nothing after a stop', async () => {
    const { push } = startPush();
    await push.set(target());
    await push.stop();
    push.changed(await keep('completed', 1));
    expect([clock.pending, receiver.all('/a')]).toEqual([0, []]);
  });
});

describe('a failing store', () => {
  it('delays no receiver and no task', async () => {
    const { push, logged } = startPush();
    await push.set(target());
    const task = await keep('working', 1);
    await store.close();
    push.changed(task);
    push.changed(aTask({ state: 'completed', revision: 2 }));
    push.changed(aTask({ id: 'other' }));
    expect(await told(2)).toEqual([
      ['working', 1, 200],
      ['completed', 2, 200],
    ]);
    await vi.waitUntil(() => logged.length === 2, { timeout: 5_000, interval: 1 });
    const failed = (id: string) => [
      { error: expect.any(Error), task_id: id },
      'push: the store failed',
    ];
    expect(logged).toEqual([failed('other'), failed('t-1')]);
    store = await openStore(temporaryFolder());
  });
});

describe('a refused receiver', () => {
  const url = 'the url of a push notification config must be an http(s) URL';
  const secret =
    'the token and the credentials must be printable ASCII of at most 4,096 characters';
  const blocked = (why: string) => `egress blocked: ${why} (mode=allowlist)`;
  const cases: [string, Partial<PushTarget>, string][] = [
    ['no URL', { url: 'canary' }, url],
    ['a scheme of another kind', { url: 'file:///etc/canary' }, url],
    ['an endless URL', { url: `https://hook.example.test/${'canary'.repeat(800)}` }, url],
    ['a token of two lines', { token: 'canary\r\nX-Other: 1' }, secret],
    ['a token that is too long', { token: 'canary'.repeat(700) }, secret],
    [
      'credentials of two lines',
      { authentication: { scheme: 'B', credentials: 'canary\n' } },
      secret,
    ],
    ['a scheme of two lines', { authentication: { scheme: 'B\n', credentials: 'canary' } }, secret],
    [
      'an endless id',
      { id: 'canary'.repeat(50) },
      'the id of a push notification config is too long; use 256 characters at most',
    ],
    [
      'a host that is not listed',
      { url: 'https://elsewhere.test/canary' },
      blocked('elsewhere.test is not on the allowlist'),
    ],
  ];

  it.each(cases)('is one with %s', async (_name, more, message) => {
    const { push, logged, records } = startPush();
    const failure = await push.set(target(more)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PushTargetError);
    expect((failure as Error).message).toBe(message);
    expect([await push.list('t-1'), logged, records, clock.pending]).toEqual([[], [], [], 0]);
  });

  it('is one at a private address, when it is set and when it is called', async () => {
    const { push, names, records } = startPush({ 'hook.example.test': ['10.0.0.1'] });
    const failure = await push.set(target()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PushTargetError);
    const why = 'hook.example.test resolves to a private address';
    expect((failure as Error).message).toBe(blocked(why));
    names['hook.example.test'] = ['127.0.0.1'];
    await push.set(target());
    names['hook.example.test'] = ['10.0.0.1'];
    push.changed(await keep('completed', 1));
    await paused();
    expect(records).toEqual([
      {
        scope: { taskId: 't-1', correlationId: null, tags: {} },
        domain: 'hook.example.test',
        mode: 'allowlist',
        reason: 'resolves to a private address',
      },
    ]);
    expect(receiver.all('/a')).toEqual([]);
    names['hook.example.test'] = ['127.0.0.1'];
    clock.advance(1_000);
    expect(await told(1)).toEqual([['completed', 1, 200]]);
  });

  it.each<[EgressMode, string, string]>([
    ['allowlist', 'verifier.example', 'is not on the allowlist'],
    ['deny-all', 'verifier.example', 'is not on the allowlist'],
    ['deny-all', 'hook.example.test', 'is not on the allowlist'],
  ])('is one, in mode %s, at a host of the daemon itself: %s', async (mode, host, why) => {
    const named = { host, port: receiver.port, source: 'auth.providers.0' };
    const { push, records } = startPush({}, { mode, endpoints: [named] });
    const url = `http://${host}:${receiver.port}/a`;
    const failure = await push.set(target({ url })).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PushTargetError);
    expect((failure as Error).message).toBe(`egress blocked: ${host} ${why} (mode=${mode})`);
    // One that was stored before this policy is posted nothing either.
    await store.push.put(target({ url }), 0);
    push.changed(await keep('completed', 1));
    await paused();
    expect(records).toEqual([
      { scope: { taskId: 't-1', correlationId: null, tags: {} }, domain: host, mode, reason: why },
    ]);
    expect(receiver.all('/a')).toEqual([]);
  });

  it('is the seventeenth of a task; one of the sixteen may be changed', async () => {
    const { push } = startPush();
    const ids = Array.from({ length: 16 }, (_, index) => `id-${index}`).toSorted();
    await Promise.all(ids.map((id) => push.set(target({ id }))));
    await expect(push.set(target({ id: 'more' }))).rejects.toThrow(
      'a task may have 16 push notification configs at most',
    );
    await push.set(target({ id: 'id-0', url: hook('/b') }));
    await push.set(target({ taskId: 't-2' }));
    expect((await push.list('t-1')).map(({ id }) => id)).toEqual(ids);
    expect((await push.find('t-1', 'id-0'))?.url).toBe(hook('/b'));
  });
});
