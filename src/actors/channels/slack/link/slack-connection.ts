import { type ActorRefFrom, createActor } from 'xstate';
import {
  connectionMachine,
  connectionState,
  type LinkFault,
  pauseAfter,
} from '../../../../machines/channels/connection-machine.ts';
import type { ChannelState } from '../../channel-adapter.ts';
import type { SlackSelf } from './slack-envelope.ts';
import { type SlackLinkOptions, slackLink } from './slack-link.ts';

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
