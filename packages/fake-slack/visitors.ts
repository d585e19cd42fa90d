import { isJsonObject, type JsonObject } from '../../src/machines/json.ts';
import type { Envelope } from './socket-mode/envelope-post.ts';
import { blockActions, eventCallback, viewClosed, viewSubmission } from './socket-mode/payloads.ts';
import type { SocketHub } from './socket-mode/socket-hub.ts';
import { replaceView } from './web-api/view-methods.ts';
import type {
  FakeChannel,
  FakeMessage,
  FakeUser,
  FakeView,
  Workspace,
} from './workspace/workspace.ts';

/** A click on a button. */
export interface Click {
  /** ID or name. */
  channel: string;
  /** Defaults to the latest message with such a button. */
  ts?: string;
  /** The button's `action_id` or text. */
  action: string;
  /** ID, name or email. Default: ann. */
  user?: string;
}

/** The values entered in a modal. */
export interface Submission {
  /** Defaults to the user who opened the modal. */
  user?: string;
  /** Texts by `action_id` or `block_id`. */
  values?: Record<string, string>;
}

/** A message to the bot. */
export interface Mention {
  /** ID or name. */
  channel: string;
  /** ID, name or email. Default: ann. */
  user?: string;
  text: string;
  /** The message that starts the thread. */
  thread_ts?: string;
}

/** The users of the fake workspace, as visible to the app. */
export class Visitors {
  readonly #workspace: Workspace;
  readonly #hub: SocketHub;

  constructor(workspace: Workspace, hub: SocketHub) {
    this.#workspace = workspace;
    this.#hub = hub;
  }

  /** Clicks a button. Rejects if the button is missing or the click is not acknowledged. */
  async click({ channel: where, ts, action, user = 'ann' }: Click): Promise<Envelope> {
    const channel = this.#channel(where);
    const messages = this.#workspace.messages.filter(
      (message) => message.channel === channel.id && (ts ?? message.ts) === message.ts,
    );
    for (const message of messages.toReversed()) {
      const button = buttonOf(message, action);
      if (button === null) continue;
      const click = { channel, message, ...button, user: this.#user(user) };
      return this.#hub.deliver('interactive', blockActions(this.#workspace, click), false);
    }
    throw new Error(`no message in ${where} has a button ${action}`);
  }

  /** Submits a modal and applies the app's response. Rejects if a required field is empty. */
  async submit(view: FakeView, { user, values = {} }: Submission): Promise<JsonObject | null> {
    if (!view.isOpen) throw new Error('the modal is not open any more');
    const who = this.#user(user ?? view.user);
    const payload = viewSubmission(this.#workspace, view, who, values);
    const { answer } = await this.#hub.deliver('interactive', payload, true);
    const action = answer?.['response_action'];
    if (action === 'update') replaceView(view, answer?.['view'] ?? null);
    else view.isOpen = action === 'errors' || action === 'push';
    return answer;
  }

  /** Closes a modal; `null` if the app did not subscribe to that. */
  async closeView(view: FakeView): Promise<Envelope | null> {
    view.isOpen = false;
    if (view.content['notify_on_close'] !== true) return null;
    const payload = viewClosed(this.#workspace, view, this.#user(view.user));
    return this.#hub.deliver('interactive', payload, false);
  }

  /** Mentions the bot in a channel with other users. */
  async mention({ channel, user = 'ann', text, thread_ts }: Mention): Promise<Envelope> {
    const { botUserId } = this.#workspace;
    const words = `<@${botUserId}> ${text}`;
    return this.#say('app_mention', this.#channel(channel), this.#user(user), words, thread_ts);
  }

  /** Sends a direct message to the bot. */
  async directMessage({
    user = 'ann',
    text,
    thread_ts,
  }: Omit<Mention, 'channel'>): Promise<Envelope> {
    const who = this.#user(user);
    return this.#say('message', this.#workspace.directChannel(who.id), who, text, thread_ts);
  }

  /** Sends an event to the app. */
  events(event: JsonObject): Promise<Envelope> {
    return this.#hub.deliver('events_api', eventCallback(this.#workspace, event), false);
  }

  #say(
    type: string,
    channel: FakeChannel,
    user: FakeUser,
    text: string,
    thread: string | undefined,
  ): Promise<Envelope> {
    const said = this.#workspace.say({
      channel: channel.id,
      user: user.id,
      text,
      threadTs: thread ?? null,
    });
    return this.events({
      type,
      user: user.id,
      client_msg_id: crypto.randomUUID(),
      text,
      ts: said.ts,
      event_ts: said.ts,
      team: this.#workspace.teamId,
      channel: channel.id,
      ...(channel.partner !== null && { channel_type: 'im' }),
      ...(thread !== undefined && { thread_ts: thread }),
    });
  }

  #channel(idOrName: string): FakeChannel {
    const channel = this.#workspace.channel(idOrName);
    if (channel === undefined) throw new Error(`there is no channel ${idOrName}`);
    return channel;
  }

  #user(key: string): FakeUser {
    const user = this.#workspace.user(key);
    if (user === undefined) throw new Error(`there is no user ${key}`);
    return user;
  }
}

/** Finds a button by its `action_id` or its text. */
export function buttonOf(
  { blocks }: FakeMessage,
  action: string,
): { blockId: string; element: JsonObject } | null {
  for (const [index, block] of blocks.entries()) {
    const id = block['block_id'];
    const elements = [block['elements'], block['accessory']].flat();
    for (const element of elements) {
      if (!isJsonObject(element) || element['type'] !== 'button') continue;
      const label = isJsonObject(element['text']) ? element['text']['text'] : null;
      if (element['action_id'] !== action && label !== action) continue;
      return { blockId: typeof id === 'string' ? id : `b${index}`, element };
    }
  }
  return null;
}
