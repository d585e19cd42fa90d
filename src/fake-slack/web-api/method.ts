import type { JsonObject } from '../../machines/json.ts';
import type { FakeChannel, FakeMessage, FakeUser, Workspace } from '../workspace/workspace.ts';
import { SlackRefusal } from './slack-refusal.ts';

/** The context of a call. */
export interface MethodContext {
  workspace: Workspace;
  /** The scopes of the bot's token. */
  scopes: readonly string[];
  /** Milliseconds that a trigger can be used for. */
  triggerLife: number;
  /** Makes the address of one connection. */
  newSocketUrl: () => string;
  /** Returns the URL that takes the content of a file. */
  uploadUrl: (fileId: string) => string;
}

/** A method of the Web API; `answer` throws SlackRefusal where Slack answers `ok: false`. */
export interface Method {
  token: 'bot' | 'app';
  /** Scopes of which the token needs one; none when the list is empty. */
  scopes: readonly string[];
  answer(args: JsonObject, context: MethodContext): JsonObject;
}

/** Reads an argument that is a text; empty when it is missing. */
export function text(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** Finds the channel that a call names by id. Throws `channel_not_found`. */
export function channelOf({ workspace }: MethodContext, args: JsonObject): FakeChannel {
  const id = text(args, 'channel');
  const user = workspace.users.find((each) => each.id === id);
  if (user !== undefined) return workspace.directChannel(user.id);
  const channel = workspace.channels.find((each) => each.id === id);
  // A private channel is not there for whom it does not concern.
  if (channel === undefined || (channel.isPrivate && !channel.hasBot)) {
    throw new SlackRefusal('channel_not_found');
  }
  return channel;
}

/** Finds the channel that a call writes to. Throws `is_archived` and `not_in_channel` too. */
export function writableChannel(context: MethodContext, args: JsonObject): FakeChannel {
  const channel = channelOf(context, args);
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  if (!channel.hasBot) throw new SlackRefusal('not_in_channel');
  return channel;
}

/** A message in Slack's words. */
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

/** Gives a block that was sent without an id one, as Slack does. */
function withBlockId(block: JsonObject, index: number): JsonObject {
  return { block_id: `b${index}`, ...block };
}

/** A user in Slack's words; the email is told with its scope alone. */
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

/** A channel in Slack's words. */
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
