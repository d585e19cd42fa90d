import type { WebClient } from '@slack/web-api';
import type {
  ApprovalNews,
  ApprovalNotice,
  MessageRef,
} from '../../../machines/channels/approval-notice.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ScopedOutbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import type {
  ApprovalAuthority,
  ApprovalPlaces,
  ApproverPeople,
  ChannelAdapter,
  ChannelState,
} from '../channel-adapter.ts';
import type { SlackSettings } from '../channel-settings.ts';
import type { ChatMessage } from '../conversation-port.ts';
import { within } from '../time-limit.ts';
import { SlackDeliveries } from './decisions/slack-deliveries.ts';
import { SlackInteractions } from './decisions/slack-interactions.ts';
import { ChannelDirectory, type KeptNames } from './link/channel-directory.ts';
import { RateLimiter } from './link/rate-limiter.ts';
import { createSlackClient } from './link/slack-client.ts';
import { SlackConnection } from './link/slack-connection.ts';
import type { SlackEnvelope, SlackSelf } from './link/slack-envelope.ts';
import { deliveryError } from './link/slack-failure.ts';
import type { SlackSocketOptions } from './link/slack-socket.ts';
import { fetchUntil, untilAborted } from './link/until-aborted.ts';
import { readUserChange, UserDirectory } from './link/user-directory.ts';
import { UserGroups } from './link/user-groups.ts';
import { Mentions } from './messages/mentions.ts';
import { readDeletion } from './talk/message-event.ts';
import { SlackConversation } from './talk/slack-conversation.ts';

export interface SlackOptions {
  settings: SlackSettings;
  outbound: ScopedOutbound;
  approvals: ApprovalAuthority;
  /** Look-up of the app's messages by place; when absent, approval threads are not recognised. */
  places?: ApprovalPlaces;
  /** Channels that names first resolved to; nothing is stored when absent. */
  names?: KeptNames;
  /** Returns the people whom approver entries name now; messages mention no one when absent. */
  addressesOf?: ApproverPeople['addressesOf'];
  clock: Clock;
  log: Log;
  /** Receives chat messages and resolves with whether they were stored; when absent, the adapter ignores them. */
  conversations?: { receive(message: ChatMessage): Promise<boolean> } | null;
  /** Returns a random number from 0 to 1, used for jitter; Math.random by default. */
  random?: () => number;
  /** Maximum silence of a socket; the library's values by default. */
  pings?: NonNullable<SlackSocketOptions['pings']>;
}

/** Time for running interactions to finish when the adapter stops, in milliseconds. */
const grace = 3_000;

/** Creates the adapter for Slack (docs/contract/chat.md); it connects when it is started. */
export function createSlackAdapter(options: SlackOptions): SlackAdapter {
  return new SlackAdapter(options);
}

/** Posts approvals to Slack and receives decisions, using outgoing connections only. */
export class SlackAdapter implements ChannelAdapter {
  readonly name = 'slack';
  readonly capabilities;
  readonly conversation: SlackConversation;
  readonly channels: ChannelDirectory;
  readonly groups: UserGroups;
  readonly #options: SlackOptions;
  readonly #connection: SlackConnection;
  readonly #deliveries: SlackDeliveries;
  readonly #interactions: SlackInteractions;
  readonly #stopping = new AbortController();
  readonly #ended = new AbortController();
  readonly #handling = new Set<Promise<void>>();
  readonly #people: UserDirectory[] = [];

  constructor(options: SlackOptions) {
    const { settings, approvals, names, addressesOf, clock, outbound, log } = options;
    const look = { dashboardUrl: settings.dashboardUrl };
    const web = this.#createClient(options, 3);
    const once = this.#createClient(options, 0);
    // Separate request limits: a click must be answered in seconds, and approvals never wait for conversations.
    const quick = this.#createClient(options, 3);
    const talking = this.#createClient(options, 3);
    this.channels = new ChannelDirectory({ web, clock, ...(names && { names }) });
    const { channels } = this;
    this.#options = options;
    this.capabilities = { approvals: true, conversations: settings.conversations };
    this.#connection = this.#createConnection(options, quick);
    this.#deliveries = new SlackDeliveries({
      web,
      once,
      channels,
      limiter: new RateLimiter(clock),
      look,
      ...(addressesOf && { mentions: new Mentions({ people: channels.people, addressesOf, log }) }),
    });
    const own = () => this.#connection.self;
    this.groups = new UserGroups({ web: quick, clock, self: own, log });
    const deciding = { ...this.#meeting(quick), approvals, look, clock, outbound };
    this.#interactions = new SlackInteractions(deciding);
    this.conversation = new SlackConversation({
      ...this.#meeting(talking),
      ...(options.places && { places: options.places }),
    });
  }

  get state(): ChannelState {
    return this.#connection.state;
  }

  /** The app's identity in Slack; `null` before the first connection. */
  get self(): SlackSelf | null {
    return this.#connection.self;
  }

  start(onState: (state: ChannelState) => void): void {
    this.#connection.start(onState);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // Starts no new work: Slack redelivers anything that is not acknowledged.
    await within(this.#options.clock, grace, Promise.all(this.#handling));
    this.#connection.close();
    this.#ended.abort();
  }

  deliver(notice: ApprovalNotice, signal: AbortSignal): Promise<MessageRef> {
    return this.#send(notice, signal, (wanted) => this.#deliveries.post(notice, wanted));
  }

  update(
    ref: MessageRef,
    notice: ApprovalNotice,
    news: ApprovalNews,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#send(notice, signal, () => this.#deliveries.update(ref, notice, news));
  }

  #meeting(web: WebClient) {
    const { clock, log } = this.#options;
    const self = () => this.#connection.self;
    const people = new UserDirectory({ web, clock, self, log });
    this.#people.push(people);
    return { web, people, self, log };
  }

  #createClient({ settings, outbound, log }: SlackOptions, retries: number): WebClient {
    const { botToken: token, apiUrl } = settings;
    const fetch = fetchUntil(this.#ended.signal, outbound.fetch);
    return createSlackClient({ token, apiUrl, fetch, log, retries });
  }

  #createConnection(options: SlackOptions, web: WebClient): SlackConnection {
    const { settings, outbound, clock, log, random = Math.random, pings } = options;
    return new SlackConnection({
      appToken: settings.appToken,
      apiUrl: settings.apiUrl,
      receive: (envelope) => this.#receive(envelope),
      web,
      outbound,
      clock,
      log,
      random,
      ...(pings === undefined ? {} : { pings }),
    });
  }

  /** Sends in the scope of the task that a notice concerns. */
  #send<Result>(
    { request: { taskId } }: ApprovalNotice,
    signal: AbortSignal,
    send: (wanted: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const scope = { taskId, correlationId: null, tags: {}, isOwn: true };
    const wanted = AbortSignal.any([signal, this.#ended.signal]);
    return untilAborted(wanted, () => this.#options.outbound.within(scope, () => send(wanted)));
  }

  #receive(envelope: SlackEnvelope): void {
    if (this.#stopping.signal.aborted) return;
    const handling = this.#handle(envelope).finally(() => this.#handling.delete(handling));
    this.#handling.add(handling);
  }

  async #handle(envelope: SlackEnvelope): Promise<void> {
    const { settings, conversations = null, log } = this.#options;
    try {
      if (envelope.type === 'interactive') return await this.#interactions.handle(envelope);
      await this.#noteDeletion(envelope);
      const changed = readUserChange(envelope);
      if (changed !== null) for (const people of this.#people) people.forget(changed);
      if (
        envelope.type !== 'events_api' ||
        changed !== null ||
        !settings.conversations ||
        conversations === null
      ) {
        return await envelope.ack();
      }
      const message = await this.conversation.read(envelope);
      // A message that was not stored stays unacknowledged, so Slack redelivers it.
      if (message !== null && (await conversations.receive(message))) await envelope.ack();
    } catch (error) {
      const { message } = deliveryError(error, 'hearing an event');
      log.warn({ envelope: envelope.id }, message);
    }
  }

  /** Slack reports deletions only if the app subscribes to the channel's messages. */
  async #noteDeletion({ type, body }: SlackEnvelope): Promise<void> {
    const self = this.#connection.self;
    if (type !== 'events_api' || self === null) return;
    const place = readDeletion(body, self);
    if (place !== null) await this.#options.places?.doubt(place, this.name);
  }
}
