import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../src/actors/ports/clock.ts';
import type { JsonObject, JsonValue } from '../../../src/machines/json.ts';

/** A user of the workspace; guests and strangers have no email. */
export interface FakeUser {
  id: string;
  /** The handle, without `@`. */
  name: string;
  realName: string;
  email: string | null;
  isBot: boolean;
  isDeleted: boolean;
}

/** A channel, or with `partner` a user's direct-message conversation with the bot. */
export interface FakeChannel {
  id: string;
  name: string;
  isPrivate: boolean;
  isArchived: boolean;
  /** True if the bot is a member. */
  hasBot: boolean;
  partner: string | null;
}

/** The current state of a message. */
export interface FakeMessage {
  channel: string;
  /** Epoch seconds with six decimals. Unique in the workspace and strictly increasing. */
  ts: string;
  threadTs: string | null;
  user: string;
  text: string;
  blocks: JsonObject[];
  metadata: JsonValue;
  /** The number of edits. */
  edits: number;
  /** Names of the bot's reactions in the order added. */
  reactions: string[];
  files: FakeFile[];
  /** The only user who can see the message; `null` for all members. */
  onlyFor: string | null;
}

/** An uploaded file; `content` is `null` until the upload is complete. */
export interface FakeFile {
  id: string;
  name: string;
  content: string | null;
}

/** An open or closed modal. */
export interface FakeView {
  id: string;
  hash: string;
  user: string;
  isOpen: boolean;
  /** The view as the app sent it. */
  content: JsonObject;
}

interface Trigger {
  user: string;
  at: number;
  isUsed: boolean;
}

/** The state of the fake Slack: users, channels, messages and modals. */
export class Workspace {
  readonly teamId = 'T0HOLDPNT1';
  readonly teamDomain = 'holdpoint-demo';
  readonly appId = 'A0HOLDPNT1';
  readonly botUserId = 'U0HOLDPNT1';
  readonly botId = 'B0HOLDPNT1';
  readonly users: FakeUser[];
  readonly channels: FakeChannel[];
  readonly messages: FakeMessage[] = [];
  readonly files: FakeFile[] = [];
  readonly views: FakeView[] = [];
  /** Ids of the members of user groups, by the id of the group. */
  readonly userGroups = new Map<string, readonly string[]>();
  readonly #triggers = new Map<string, Trigger>();
  readonly #clock: Clock;
  #lastTs = 0;

  constructor(clock: Clock, users: FakeUser[], channels: FakeChannel[]) {
    this.#clock = clock;
    this.users = [botUser(this.botUserId), ...users];
    this.channels = [...channels];
  }

  /** Finds a channel by id, or by name with or without `#`. */
  channel(idOrName: string): FakeChannel | undefined {
    const name = idOrName.replace(/^#/, '');
    return this.channels.find((channel) => channel.id === idOrName || channel.name === name);
  }

  /** Finds a user by id, by name with or without `@`, or by email. */
  user(key: string): FakeUser | undefined {
    const name = key.replace(/^@/, '');
    return this.users.find(
      ({ id, name: own, email }) => id === key || own === name || email === key.toLowerCase(),
    );
  }

  /** Finds or creates a user's direct-message conversation with the bot. */
  directChannel(user: string): FakeChannel {
    const found = this.channels.find(({ partner }) => partner === user);
    if (found !== undefined) return found;
    const id = `D${user.slice(1)}`;
    const made = {
      id,
      name: id.toLowerCase(),
      isPrivate: true,
      isArchived: false,
      hasBot: true,
      partner: user,
    };
    this.channels.push(made);
    return made;
  }

  /** Adds a message with the next `ts`. */
  say(message: Pick<FakeMessage, 'channel' | 'user' | 'text'> & Partial<FakeMessage>): FakeMessage {
    const said: FakeMessage = {
      threadTs: null,
      blocks: [],
      metadata: null,
      edits: 0,
      reactions: [],
      files: [],
      onlyFor: null,
      ...message,
      ts: this.nextTs(),
    };
    this.messages.push(said);
    return said;
  }

  /** Finds a non-ephemeral message of a channel. */
  message(channel: string, ts: string): FakeMessage | undefined {
    return this.messages.find(
      (message) => message.channel === channel && message.ts === ts && message.onlyFor === null,
    );
  }

  /** Returns the `ts` for an event at the current time. */
  nextTs(): string {
    this.#lastTs = Math.max(this.#clock.now() * 1_000, this.#lastTs + 1);
    const digits = String(Math.trunc(this.#lastTs)).padStart(7, '0');
    return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  }

  /** Creates a trigger in Slack's format that lets the app open one modal for a user. */
  newTrigger(user: string): string {
    const number = (): string => randomBytes(5).readUIntBE(0, 5).toString().padStart(13, '7');
    const id = `${number()}.${number()}.${randomBytes(16).toString('hex')}`;
    this.#triggers.set(id, { user, at: this.#clock.now(), isUsed: false });
    return id;
  }

  /** Consumes a trigger and returns its user, or Slack's error code. `life` is in milliseconds. */
  useTrigger(id: string, life: number): { user: string } | { error: string } {
    const trigger = this.#triggers.get(id);
    if (trigger === undefined) return { error: 'invalid_trigger_id' };
    if (trigger.isUsed) return { error: 'exchanged_trigger_id' };
    if (this.#clock.now() - trigger.at > life) return { error: 'expired_trigger_id' };
    trigger.isUsed = true;
    return { user: trigger.user };
  }
}

function botUser(id: string): FakeUser {
  const name = 'holdpoint';
  return { id, name, realName: 'Holdpoint', email: null, isBot: true, isDeleted: false };
}
