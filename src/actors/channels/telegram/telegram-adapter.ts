import { type ActorRefFrom, createActor } from 'xstate';
import {
  connectionMachine,
  connectionState,
  type LinkFault,
  pauseAfter,
} from '../../../machines/channels/connection-machine.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import { type ChannelAdapter, type ChannelState, DeliveryError } from '../channel-adapter.ts';
import type { TelegramSettings } from '../channel-settings.ts';
import type { ConversationPort } from '../conversation-port.ts';
import type { TelegramSelf } from './hear-message.ts';
import { Reception, type ReceptionOptions } from './reception.ts';
import { TelegramClient } from './telegram-client.ts';
import { TelegramConversation } from './telegram-conversation.ts';
import { telegramLink } from './telegram-link.ts';
import { UpdateReader } from './update-reader.ts';

export interface TelegramOptions {
  settings: TelegramSettings;
  outbound: Pick<Outbound, 'fetch'>;
  /** Stores chat messages; with `null`, messages are ignored. */
  conversations: ReceptionOptions['conversations'];
  clock: Clock;
  log: Log;
  /** Returns a random number from 0 to 1, used for jitter; Math.random by default. */
  random?: () => number;
}

/** Creates the adapter for Telegram (docs/contract/chat.md); it connects when it is started. */
export function createTelegramAdapter(
  options: TelegramOptions,
): ChannelAdapter & { conversation: ConversationPort } {
  return new TelegramAdapter(options);
}

/** Receives by long polling, so the agent needs no inbound access. */
class TelegramAdapter implements ChannelAdapter {
  readonly name = 'telegram';
  readonly capabilities = { approvals: false, conversations: true };
  readonly conversation: TelegramConversation;
  readonly #options: TelegramOptions;
  readonly #client: TelegramClient;
  readonly #reader: UpdateReader;
  readonly #reception: Reception;
  readonly #stopping = new AbortController();
  readonly #runs = new Set<Promise<void>>();
  #connection: ActorRefFrom<typeof connectionMachine> | null = null;
  #state: ChannelState = 'connecting';
  #toldFault: string | null = null;

  constructor(options: TelegramOptions) {
    const { settings, conversations, log } = options;
    const { allowedUsers } = settings;
    this.#options = options;
    this.#client = new TelegramClient(options);
    this.#reader = new UpdateReader({ ...options, client: this.#client });
    this.conversation = new TelegramConversation({ client: this.#client, log });
    const say: ReceptionOptions['say'] = (ref, text) =>
      this.conversation.say(ref, text, this.#stopping.signal);
    this.#reception = new Reception({ conversations, allowedUsers, say, log });
  }

  get state(): ChannelState {
    return this.#state;
  }

  start(onState: (state: ChannelState) => void): void {
    const { clock, log } = this.#options;
    const connection = createActor(this.#logic(), { clock });
    this.#connection = connection;
    let told: ChannelState | null = null;
    connection.subscribe({
      next: ({ value }) => {
        this.#state = connectionState(value);
        if (this.#state === told) return;
        told = this.#state;
        onState(told);
      },
      error: (error) => log.error({ error }, 'telegram: the connection broke'),
    });
    connection.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#connection?.send({ type: 'connection.close' });
    this.#connection = null;
    await Promise.all(this.#runs);
    await this.#reception.ended();
  }

  deliver(): Promise<never> {
    return Promise.reject(onlyConversations());
  }

  update(): Promise<never> {
    return Promise.reject(onlyConversations());
  }

  #logic() {
    const random = this.#options.random ?? Math.random;
    const link = telegramLink({
      client: this.#client,
      onSelf: (self) => this.#noteSelf(self),
      read: (self, signal) =>
        this.#reader.read((message) => this.#reception.take(message, self), signal),
      onRun: (run) => this.#keep(run),
    });
    return connectionMachine.provide({
      actors: { link },
      actions: { noteFault: ({ context }) => this.#noteFault(context.fault) },
      delays: { pause: ({ context }) => pauseAfter(context, random()) },
    });
  }

  #keep(run: Promise<void>): void {
    this.#runs.add(run);
    void run.finally(() => this.#runs.delete(run));
  }

  #noteSelf({ id, username }: TelegramSelf): void {
    this.#toldFault = null;
    this.#options.log.info({ bot: id, username }, 'telegram: connected');
  }

  /** Logs a repeated fault once, until the next connection. */
  #noteFault(fault: LinkFault | null): void {
    if (fault === null || fault.message === this.#toldFault) return;
    this.#toldFault = fault.message;
    this.#options.log.warn({ lasting: fault.lasting }, fault.message);
  }
}

function onlyConversations(): DeliveryError {
  return new DeliveryError(
    'telegram supports conversations only; use another adapter in security.defer',
    { fault: 'target' },
  );
}
