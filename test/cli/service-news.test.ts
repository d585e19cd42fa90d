import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tellServiceManager } from '../../src/cli/service-news.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** An agent whose health can be set, and what systemd has heard of it. */
async function anAgent(watchdog: number | null) {
  const health = { deferred: 0, isWritable: true, isReadable: true };
  const heard: object[] = [];
  const agent = {
    url: 'http://127.0.0.1:8080',
    health: async () => {
      if (!health.isReadable) throw new Error('the store is gone');
      return health;
    },
  };
  const notify = async (news: object): Promise<void> => void heard.push(news);
  const service = await tellServiceManager(agent, { settings: { socket: '/n', watchdog }, notify });
  const pass = async (milliseconds: number): Promise<object[]> => {
    await vi.advanceTimersByTimeAsync(milliseconds);
    return heard.splice(0);
  };
  return { health, service, pass };
}

const ready = 'ready at http://127.0.0.1:8080, ';

describe('the notifications for systemd', () => {
  it('state that the agent is ready, which calls wait, and that it stops', async () => {
    const { health, service, pass } = await anAgent(null);
    expect(await pass(0)).toEqual([{ READY: '1', STATUS: `${ready}nothing waits for a release` }]);
    expect(await pass(60_000)).toEqual([]);
    health.deferred = 1;
    expect(await pass(60_000)).toEqual([{ STATUS: `${ready}1 call waits for a release` }]);
    health.deferred = 2;
    expect(await pass(180_000)).toEqual([{ STATUS: `${ready}2 calls wait for a release` }]);
    service.stopping();
    health.deferred = 0;
    expect(await pass(120_000)).toEqual([{ STOPPING: '1', STATUS: 'cancelling running work' }]);
    service.end();
  });

  it('are sent twice in the watchdog interval, while the store is readable, also when it is not writable', async () => {
    const { health, service, pass } = await anAgent(30_000);
    expect(await pass(0)).toMatchObject([{ READY: '1', WATCHDOG: '1' }]);
    expect(await pass(30_000)).toEqual([{ WATCHDOG: '1' }, { WATCHDOG: '1' }]);
    health.isWritable = false;
    const full = 'cannot record events, so it accepts no work, at http://127.0.0.1:8080, ';
    expect(await pass(30_000)).toEqual([
      { WATCHDOG: '1', STATUS: `${full}nothing waits for a release` },
      { WATCHDOG: '1' },
    ]);
    health.isWritable = true;
    expect(await pass(15_000)).toEqual([
      { WATCHDOG: '1', STATUS: `${ready}nothing waits for a release` },
    ]);
    health.isReadable = false;
    expect(await pass(60_000)).toEqual([]);
    health.isReadable = true;
    service.stopping();
    expect(await pass(15_000)).toEqual([
      { STOPPING: '1', WATCHDOG: '1', STATUS: 'cancelling running work' },
      { WATCHDOG: '1' },
    ]);
    service.end();
    expect(await pass(60_000)).toEqual([]);
  });
});
