import type { WebClient } from '@slack/web-api';
import { type ActorRefFrom, type AnyEventObject, createActor, fromCallback } from 'xstate';
import {
  connectionMachine,
  connectionState,
  type LinkEvent,
  type LinkFault,
  type LinkInput,
  pauseAfter,
} from '../../../../machines/channels/connection-machine.ts';
import type { ChannelState } from '../../channel-adapter.ts';
import { SlackSetupError } from './setup-error.ts';
import type { SlackEnvelope, SlackSelf } from './slack-envelope.ts';
import { linkFault } from './slack-failure.ts';
import { readSelf } from './slack-self.ts';
import { SlackSocket, type SlackSocketOptions } from './slack-socket.ts';

export interface SlackConnectionOptions extends Omit<SlackLinkOptions, 'onSelf'> {
  /** Returns a random number from 0 to 1, used for jitter. */
  random: () => number;
}

/** The connection to Slack across all its successive sockets. */
export class SlackConnection {
  readonly #options: SlackConnectionOptions;
  #actor: ActorRefFrom<typeof connectionMachine> | null = null;
  #state: ChannelState = 'connecting';
  #self: SlackSelf | null = null;
  #toldFault: string | null = null;

  constructor(options: SlackConnectionOptions) {
    this.#options = options;
  }

  get state(): ChannelState {
    return this.#state;
  }

  /** The app's identity in Slack; `null` before the first connection. */
  get self(): SlackSelf | null {
    return this.#self;
  }

  /** Starts connecting; `onState` receives each change. Never throws. */
  start(onState: (state: ChannelState) => void): void {
    const { clock, log } = this.#options;
    let told: ChannelState | null = null;
    const tell = (state: ChannelState) => {
      this.#state = state;
      if (state === told) return;
      told = state;
      onState(state);
    };
    this.#actor = createActor(this.#logic(), { clock });
    this.#actor.subscribe({
      next: ({ value }) => tell(connectionState(value)),
      error: (error) => {
        log.error({ error }, 'slack: the connection broke for a reason of our own');
        tell('failed');
      },
    });
    this.#actor.start();
  }

  /** Closes every socket; idempotent. */
  close(): void {
    if (this.#actor?.getSnapshot().status === 'active') {
      this.#actor.send({ type: 'connection.close' });
    }
    this.#state = 'closed';
  }

  #logic() {
    const { random, ...options } = this.#options;
    return connectionMachine.provide({
      actors: { link: slackLink({ ...options, onSelf: (self) => this.#noteSelf(self) }) },
      actions: { noteFault: ({ context }) => this.#noteFault(context.fault) },
      delays: { pause: ({ context }) => pauseAfter(context, random()) },
    });
  }

  #noteSelf(self: SlackSelf): void {
    const { log } = this.#options;
    // Slack renews a socket every few hours; this is not logged.
    const isChange = this.#self === null || this.#toldFault !== null;
    this.#self = self;
    this.#toldFault = null;
    if (isChange) {
      log.info({ team: self.teamId, bot: self.botUserId, app: self.appId }, 'slack: connected');
    }
  }

  /** Logs a repeated fault once, until the next connection. */
  #noteFault(fault: LinkFault | null): void {
    if (fault === null || fault.message === this.#toldFault) return;
    this.#toldFault = fault.message;
    this.#options.log.warn(
      { error: fault.message, lasting: fault.lasting },
      'slack: not connected',
    );
  }
}

/** The effects of a link to Slack. */
interface SlackLinkOptions extends SlackSocketOptions {
  web: Pick<WebClient, 'auth'>;
  /** Receives the app's identity before the link is up. */
  onSelf: (self: SlackSelf) => void;
  receive: (envelope: SlackEnvelope) => void;
}

/**
 * Creates one link of a connection to Slack. It is up once both tokens are verified and Slack has sent its greeting.
 */
function slackLink(options: SlackLinkOptions) {
  return fromCallback<AnyEventObject, LinkInput>(({ input: { link }, sendBack }) => {
    const stopped = new AbortController();
    const tell = (event: LinkEvent) => void (stopped.signal.aborted || sendBack(event));
    const down = (error: unknown) => tell({ type: 'link.down', link, fault: linkFault(error) });
    const open = async () => {
      const self = await readSelf(options.web);
      if (stopped.signal.aborted) return;
      const socket = new SlackSocket(options, {
        up(appId) {
          if (!isSameApp(self, appId)) {
            down(new SlackSetupError('the two tokens belong to two Slack apps; take both of one'));
            return;
          }
          options.onSelf({ ...self, appId: appId ?? self.appId });
          tell({ type: 'link.up', link });
        },
        leaving: () => tell({ type: 'link.leaving', link }),
        down,
        receive: options.receive,
      });
      stopped.signal.addEventListener('abort', () => socket.close(), { once: true });
      socket.open();
    };
    open().catch(down);
    return () => stopped.abort();
  });
}

function isSameApp(self: SlackSelf, appId: string | null): boolean {
  return appId === null || self.appId === null || self.appId === appId;
}
