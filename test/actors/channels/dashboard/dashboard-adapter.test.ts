import { expect, it } from 'vitest';
import type { ChannelState } from '../../../../src/actors/channels/channel-adapter.ts';
import { createDashboardAdapter } from '../../../../src/actors/channels/dashboard/dashboard-adapter.ts';
import { aNotice, outcomes } from '../webhook/a-notice.ts';

const { signal } = new AbortController();

it('takes every notice and leaves it to the dashboard to show it', async () => {
  const adapter = createDashboardAdapter();
  const heard: ChannelState[] = [];
  adapter.start((state) => void heard.push(state));
  const ref = await adapter.deliver(aNotice({ target: 'channel:dashboard:*' }), signal);
  await adapter.update(ref, aNotice({}, outcomes.approved), 'ended', signal);
  const { name, capabilities, state } = adapter;
  await adapter.stop();
  expect({ name, capabilities, ref, states: [state, adapter.state], heard }).toEqual({
    name: 'dashboard',
    capabilities: { approvals: true, conversations: false },
    ref: {},
    states: ['connected', 'closed'],
    heard: ['connected'],
  });
});
