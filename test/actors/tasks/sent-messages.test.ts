import { describe, expect, it } from 'vitest';
import { messageKeys } from '../../../src/actors/records/store/message-key.ts';
import type { Caller } from '../../../src/machines/domain/task.ts';
import { failingDisk } from '../../helpers/failing-disk.ts';
import { ends, parks, playing, toolCalled } from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

const day = 24 * 3_600_000;
const known = { isKnownById: true } as const;
const hello = playing([{ say: 'hello' }], known);

describe('a repeated message id', () => {
  it('is recognized for five minutes after its task has ended', async () => {
    const { system, clock } = await openSystem();
    const id = await system.open(hello);
    await ends(system, id);
    clock.advance(300_000);
    expect(await system.open(hello)).toBe(id);
    clock.advance(1);
    const next = await system.open(hello);
    expect(next).not.toBe(id);
    expect(await system.open(hello)).toBe(next);
  });

  it('subscribes to a task that it starts, and not to a repeated one', async () => {
    const { system } = await openSystem();
    const received: string[] = [];
    const as = (name: string) => ({
      onTask: ({ id }: { id: string }) => received.push(`${name} ${id}`),
    });
    const id = await system.open(hello, as('first'));
    expect(await system.open(hello, as('repeat'))).toBe(id);
    await ends(system, id);
    expect(received).toEqual([`first ${id}`]);
  });

  it('expires with its task', async () => {
    const { system, clock, store } = await openSystem({ retention: 7 * day });
    const id = await system.open(hello);
    await ends(system, id);
    clock.advance(7 * day + 1);
    await system.retention.deleteExpired();
    const [key] = messageKeys(null, hello.message, {});
    expect(await store.rows.messages.find(key)).toBeUndefined();
    expect(await system.open(hello)).not.toBe(id);
  });

  it('is recognized before its task is stored, and in another process over the same store', async () => {
    const { system, store, directory, stop } = await openSystem();
    const id = await system.open(hello);
    expect([await system.reads.find(id), await system.open(hello)]).toEqual([undefined, id]);
    await ends(system, id);
    await store.flush();
    await stop();
    const next = await openSystem({ directory });
    expect([await next.system.open(hello), await next.system.reads.findBySent(hello)]).toEqual([
      id,
      id,
    ]);
  });

  it('is retried when the disk refused it', async () => {
    const { system, store } = await openSystem();
    const disk = failingDisk();
    const lost = await system.open(hello);
    expect(await store.flush()).not.toBeNull();
    disk.fix();
    await Promise.resolve();
    const id = await system.open(hello);
    expect(id).not.toBe(lost);
    expect((await ends(system, id)).text).toBe('hello');
    expect(await system.reads.find(lost)).toBeUndefined();
  });

  it('leads to the task in which it was denied', async () => {
    const { system } = await openSystem({
      security: { guardrails: { enabled: true, deny_prompts: [{ pattern: 'hello' }] } },
    });
    const id = await system.open(hello);
    expect((await ends(system, id)).state).toBe('failed');
    expect(await system.open(hello)).toBe(id);
  });

  it('is retried once after a step-up was required', async () => {
    const { system } = await openSystem({
      tools: [toolCalled('pay')],
      security: { step_up: { enabled: true, tools: { pay: 'high' } } },
    });
    const as = (acr: string) =>
      playing([{ tool: 'pay' }, { say: 'paid' }], {
        ...known,
        requester: { provider: 'ops', userId: 'rita', acr },
      });
    const refused = await ends(system, await system.open(as('low')));
    expect(refused.failure?.kind).toBe('stepUp');
    const id = await system.open(as('high'));
    expect(id).not.toBe(refused.id);
    expect((await ends(system, id)).state).toBe('completed');
    expect([await system.open(as('high')), await system.open(as('low'))]).toEqual([id, id]);
  });

  it('belongs to one sender: of the same provider, name and organisation', async () => {
    const { system } = await openSystem();
    const senders: (Caller | null)[] = [
      null,
      { provider: 'ops', userId: 'rita' },
      { provider: 'idp', userId: 'rita' },
      { provider: 'ops', userId: 'rita', orgId: 'acme' },
      { provider: 'ops', userId: 'rita', orgId: 'globex' },
      { provider: 'ops', userId: 'bob', orgId: 'acme' },
    ];
    const ids = await Promise.all(senders.map((requester) => system.open({ ...hello, requester })));
    expect(new Set(ids).size).toBe(senders.length);
    const withMore = { provider: 'ops', userId: 'rita', email: 'r@example.com', acr: 'high' };
    expect(await system.open({ ...hello, requester: withMore })).toBe(ids[1]);
  });

  it('is distinguished from ids that are equal in UTF-8', () => {
    const [one, other] = ['\ud800', '\ud801'].map(
      (messageId) => messageKeys(null, { messageId, parts: [] }, {})[0],
    );
    expect(one).not.toBe(other);
  });

  it('creates no second wait', async () => {
    const { system } = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
    const message = playing([{ tool: 'pay' }], known);
    const { id } = await parks(system, message);
    expect([await system.open(message), (await system.metrics.load()).deferred]).toEqual([id, 1]);
  });
});

it('a message without a known id leads to another task each time', async () => {
  const { system } = await openSystem();
  const message = playing([{ say: 'hello' }]);
  expect(await system.open(message)).not.toBe(await system.open(message));
});
