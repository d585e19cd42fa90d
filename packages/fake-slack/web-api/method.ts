import type { JsonObject } from '../../../src/machines/json.ts';
import type { FakeChannel, FakeMessage, FakeUser, Workspace } from '../workspace/workspace.ts';
import { SlackRefusal } from './slack-refusal.ts';

/** The context of a call. */
export interface MethodContext {
  workspace: Workspace;
  /** The scopes of the bot token. */
  scopes: readonly string[];
  /** Lifetime of a trigger in milliseconds. */
  triggerLife: number;
  /** Returns a new WebSocket URL for one connection. */
  newSocketUrl: () => string;
  /** Returns the URL to which a file's content is uploaded. */
  uploadUrl: (fileId: string) => string;
}

/** A Web API method. `answer` throws SlackRefusal where Slack answers `ok: false`. */
export interface Method {
  token: 'bot' | 'app';
  /** The token needs at least one of these scopes; an empty list requires none. */
  scopes: readonly string[];
  answer(args: JsonObject, context: MethodContext): JsonObject;
}

/** Returns a string argument; empty if it is missing. */
export function text(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** Finds the channel that a call names by ID. Throws `channel_not_found`. */
export function channelOf({ workspace }: MethodContext, args: JsonObject): FakeChannel {
  const id = text(args, 'channel');
  const user = workspace.users.find((each) => each.id === id);
  if (user !== undefined) return workspace.directChannel(user.id);
  const channel = workspace.channels.find((each) => each.id === id);
  // A private channel is invisible to non-members.
  if (channel === undefined || (channel.isPrivate && !channel.hasBot)) {
    throw new SlackRefusal('channel_not_found');
  }
  return channel;
}

/** Finds the channel that a call writes to. Also throws `is_archived` and `not_in_channel`. */
export function writableChannel(context: MethodContext, args: JsonObject): FakeChannel {
  const channel = channelOf(context, args);
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  if (!channel.hasBot) throw new SlackRefusal('not_in_channel');
  return channel;
}

/** Returns a message in Slack's JSON format. */
export function messageJson(workspace: Workspace, message: FakeMessage): JsonObject {
  const { ts, threadTs, user, text: words, blocks, metadata, edits } = message;
  const isOurs = user === workspace.botUserId;
  return {
    type: 'message',
    user,
    ts,
    text: words,
    team: workspace.teamId,
    ...(isOurs && { bot_id: workspace.botId, app_id: workspace.appId }),
    ...(threadTs !== null && { thread_ts: threadTs }),
    ...(blocks.length > 0 && { blocks: blocks.map(withBlockId) }),
    ...(metadata !== null && { metadata }),
    ...(edits > 0 && { edited: { user, ts } }),
  };
}

/** Adds an ID to a block without one, like Slack. */
function withBlockId(block: JsonObject, index: number): JsonObject {
  return { block_id: `b${index}`, ...block };
}

/** Returns a user in Slack's JSON format. The email is included only with its scope. */
export function userJson(
  { workspace, scopes }: MethodContext,
  { id, name, realName, email, isBot, isDeleted }: FakeUser,
): JsonObject {
  const mayTell = email !== null && scopes.includes('users:read.email');
  return {
    id,
    team_id: workspace.teamId,
    name,
    deleted: isDeleted,
    real_name: realName,
    is_bot: isBot,
    is_app_user: false,
    profile: { real_name: realName, display_name: name, ...(mayTell && { email }) },
  };
}

/** Returns a channel in Slack's JSON format. */
export function channelJson(channel: FakeChannel): JsonObject {
  const { id, name, isPrivate, isArchived, hasBot, partner } = channel;
  if (partner !== null) return { id, is_im: true, user: partner, is_archived: isArchived };
  return {
    id,
    name,
    is_channel: !isPrivate,
    is_group: isPrivate,
    is_im: false,
    is_private: isPrivate,
    is_archived: isArchived,
    is_member: hasBot,
  };
}
