import type { ChannelAdapter, ChannelState } from './channel-adapter.ts';

/** The operations of an adapter that keeps no connection. */
export type SteadyAdapter = Pick<ChannelAdapter, 'name' | 'mostAtOnce' | 'deliver' | 'update'>;

/** Creates an approval adapter without a connection; its state is connected from start to stop. */
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
