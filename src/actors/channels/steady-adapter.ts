import type { ChannelAdapter, ChannelState } from './channel-adapter.ts';

/** The operations of an adapter without a connection. */
export type SteadyAdapter = Pick<ChannelAdapter, 'name' | 'mostAtOnce' | 'deliver' | 'update'>;

/** Makes an adapter for approvals that is connected from its start to its end, as it keeps no connection. */
export function steadyAdapter({
  name,
  mostAtOnce = 1,
  deliver,
  update,
}: SteadyAdapter): ChannelAdapter {
  let state: ChannelState = 'closed';
  return {
    name,
    mostAtOnce,
    capabilities: { approvals: true, conversations: false },
    get state() {
      return state;
    },
    start(onState) {
      state = 'connected';
      onState(state);
    },
    async stop() {
      state = 'closed';
    },
    deliver,
    update,
  };
}
