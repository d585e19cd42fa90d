import { type ActorRefFrom, createActor } from 'xstate';
import type {
  ApprovalNews,
  ApprovalNotice,
  MessageRef,
} from '../../../machines/channels/approval-notice.ts';
import {
  connectionMachine,
  connectionState,
  type LinkFault,
  pauseAfter,
} from '../../../machines/channels/connection-machine.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound, ScopedOutbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import type {
  ApprovalAuthority,
  ApprovalPlaces,
  ChannelAdapter,
  ChannelState,
} from '../channel-adapter.ts';
import type { TelegramSettings } from '../channel-settings.ts';
import type { ConversationPort } from '../conversation-port.ts';
import type { TelegramSelf } from './hear-message.ts';
import { Reception, type ReceptionOptions } from './reception.ts';
import { TelegramApprovals } from './telegram-approvals.ts';
import { TelegramClient } from './telegram-client.ts';
import { TelegramConversation } from './telegram-conversation.ts';
import { telegramLink } from './telegram-link.ts';
import { UpdateReader } from './update-reader.ts';

export interface TelegramOptions {
  settings: TelegramSettings;
  outbound: Pick<Outbound, 'fetch'> & Partial<Pick<ScopedOutbound, 'within'>>;
  approvals: Pick<ApprovalAuthority, 'decide'>;
  places: Pick<ApprovalPlaces, 'at'>;
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
  readonly capabilities;
  readonly conversation: TelegramConversation;
  readonly #options: TelegramOptions;
  readonly #client: TelegramClient;
  readonly #reader: UpdateReader;
  readonly #reception: Reception;
  readonly #approvals: TelegramApprovals;
  readonly #stopping = new AbortController();
  readonly #runs = new Set<Promise<void>>();
  #connection: ActorRefFrom<typeof connectionMachine> | null = null;
  #state: ChannelState = 'connecting';
  #toldFault: string | null = null;

  constructor(options: TelegramOptions) {
    const { settings, conversations, log } = options;
    const { allowedUsers, people } = settings;
    this.#options = options;
    this.capabilities = { approvals: true, conversations: settings.conversations };
    this.#client = new TelegramClient(options);
    this.#approvals = new TelegramApprovals({ ...options, client: this.#client, people });
    this.#reader = new UpdateReader({ ...options, client: this.#client });
    this.conversation = new TelegramConversation({ client: this.#client, log });
    const say: ReceptionOptions['say'] = (ref, text) =>
      this.conversation.say(ref, text, this.#stopping.signal);
    this.#reception = new Reception({
      ...{ allowedUsers, people, say, log },
      conversations: settings.conversations ? conversations : null,
    });
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

  deliver(notice: ApprovalNotice, signal: AbortSignal): Promise<MessageRef> {
    return this.#send(notice, () => this.#approvals.post(notice, signal));
  }

  update(
    ref: MessageRef,
    notice: ApprovalNotice,
    news: ApprovalNews,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#send(notice, () => this.#approvals.update(ref, notice, news, signal));
  }

  /** Sends in the scope of the task that a notice concerns. */
  #send<Result>(
    { request: { taskId } }: ApprovalNotice,
    send: () => Promise<Result>,
  ): Promise<Result> {
    const { outbound } = this.#options;
    if (outbound.within === undefined) return send();
    return outbound.within({ taskId, correlationId: null, tags: {}, isOwn: true }, send);
  }

  #logic() {
    const random = this.#options.random ?? Math.random;
    const link = telegramLink({
      client: this.#client,
      onSelf: (self) => this.#noteSelf(self),
      read: (self, signal) =>
        this.#reader.read(
          {
            message: async (message) =>
              (await this.#approvals.reply(message, self, signal))
                ? null
                : this.#reception.take(message, self),
            press: (click) => this.#approvals.press(click, self, signal),
          },
          signal,
        ),
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
