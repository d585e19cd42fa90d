import type { ChannelStatus, Channels } from '../actors/channels/channels.ts';
import type { PushNotifications } from '../actors/outbound/outbound.ts';
import { type ConnectionParts, connectChannels } from './connect-channels.ts';
import type { OpenedShared } from './open-shared.ts';

/** The ways to people and to receivers of push notifications, which one daemon of several has at a time. */
export interface KeptChannels {
  /** The state of the channels that this daemon has; none while another one has them. */
  status(): Promise<ChannelStatus[]>;
  /** Begins to tell people and receivers of what happens. */
  start(): void;
  /** Takes nothing in any more from people who ask the agent. */
  stopListening(): Promise<void>;
  stop(): Promise<void>;
}

export interface KeptChannelsParts extends ConnectionParts {
  push: Pick<PushNotifications, 'changed' | 'start' | 'pause'>;
  /** `null` for the only daemon. */
  shared: Pick<OpenedShared, 'duties'> | null;
}

/** Opens the ways to people; of several daemons that share their tasks each does when it is its turn. */
export async function keepChannels({
  shared,
  push,
  ...parts
}: KeptChannelsParts): Promise<KeptChannels> {
  return shared === null ? alone(parts, push) : inTurn(parts, push, shared);
}

async function alone(
  parts: ConnectionParts,
  push: KeptChannelsParts['push'],
): Promise<KeptChannels> {
  parts.system.watchers.onEachChange((task) => push.changed(task));
  const channels = await connectChannels(parts);
  return {
    status: () => channels.status(),
    start() {
      push.start();
      channels.start();
    },
    stopListening: () => channels.stopListening(),
    stop: () => channels.stop(),
  };
}

function inTurn(
  parts: ConnectionParts,
  push: KeptChannelsParts['push'],
  { duties }: Pick<OpenedShared, 'duties'>,
): KeptChannels {
  let connected: Channels | null = null;
  let kept: Promise<() => Promise<void>> | null = null;
  let isOver = false;
  const keep = async (): Promise<() => Promise<void>> => {
    const channels = await connectChannels(parts);
    connected = channels;
    const hearNothing = parts.system.watchers.onEachChange((task) => push.changed(task));
    push.start();
    channels.start();
    return async () => {
      connected = null;
      hearNothing();
      push.pause();
      await channels.stop();
    };
  };
  const leave = async (): Promise<void> => {
    const keeping = kept;
    kept = null;
    // Who asked for them was told why they could not be kept.
    const end = await keeping?.catch(() => null);
    await end?.();
  };
  duties.add(async () => {
    if (!isOver) await (kept = keep());
    return leave;
  });
  return {
    status: async () => (await connected?.status()) ?? [],
    // It begins with the duty.
    start: () => undefined,
    stopListening: async () => connected?.stopListening(),
    stop() {
      isOver = true;
      return leave();
    },
  };
}
