import { Agent } from 'undici';
import { expect, it } from 'vitest';
import { openChannels } from '../../../src/actors/channels/channels.ts';
import { openSystem } from '../../helpers/test-system.ts';

it('the console and the dashboard are connected from start to stop, with nothing to deliver', async () => {
  const { store, clock } = await openSystem();
  const ignore = () => undefined;
  const channels = await openChannels({
    agentId: 'refunds',
    settings: { slack: null, telegram: null, webhook: null },
    defer: { default_approvers: [], tools: {} },
    people: {
      addressesOf: () => ({ emails: [], slackGroups: [] }),
      slackGroups: () => [],
      readSlackGroups: ignore,
    },
    store,
    decide: () => Promise.reject(new Error('nobody decides')),
    waiting: async () => [],
    surface: { url: 'http://127.0.0.1:1', token: null },
    publicUrl: 'http://127.0.0.1:1',
    outbound: {
      fetch,
      dispatcher: new Agent(),
      within: (_scope, run) => run(),
      connect: () => Promise.reject(new Error('nothing connects')),
    },
    console: ignore,
    clock,
    log: { info: ignore, warn: ignore, error: ignore },
  });
  const states = async () =>
    (await channels.status()).map(({ adapter, state }) => `${adapter} ${state}`);
  expect(await states()).toEqual(['console closed', 'dashboard closed']);
  channels.start();
  expect(await channels.status()).toEqual([
    { adapter: 'console', state: 'connected', pending: 0, oldestAt: null },
    { adapter: 'dashboard', state: 'connected', pending: 0, oldestAt: null },
  ]);
  await channels.stop();
  expect(await states()).toEqual(['console closed', 'dashboard closed']);
});
