import type { ChannelAdapter } from '../channel-adapter.ts';
import { steadyAdapter } from './steady-adapter.ts';

/**
 * Makes the adapter behind `channel:dashboard:*`, which sends nothing: the dashboard itself reads what waits
 * from `GET /deferrals` (contract section 14).
 */
export function createDashboardAdapter(): ChannelAdapter {
  return steadyAdapter({
    name: 'dashboard',
    deliver: async () => ({}),
    update: async () => undefined,
  });
}
