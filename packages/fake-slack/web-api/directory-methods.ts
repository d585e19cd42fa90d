import type { JsonObject } from '../../../src/machines/json.ts';
import type { FakeChannel } from '../workspace/workspace.ts';
import {
  channelJson,
  channelOf,
  type Method,
  type MethodContext,
  text,
  userJson,
} from './method.ts';
import { SlackRefusal } from './slack-refusal.ts';

const readChannels = ['channels:read', 'groups:read', 'im:read', 'mpim:read'];

/** The methods that look up the app, channels and users. */
export const directoryMethods: Record<string, Method> = {
  'api.test': { token: 'bot', scopes: [], answer: () => ({}) },
  'auth.test': { token: 'bot', scopes: [], answer: self },
  'apps.connections.open': {
    token: 'app',
    scopes: [],
    answer: (_args, { newSocketUrl }) => ({ url: newSocketUrl() }),
  },
  'conversations.list': { token: 'bot', scopes: readChannels, answer: listChannels },
  'conversations.info': {
    token: 'bot',
    scopes: readChannels,
    answer: (args, context) => ({ channel: channelJson(channelOf(context, args)) }),
  },
  'conversations.join': { token: 'bot', scopes: ['channels:join'], answer: joinChannel },
  'conversations.open': {
    token: 'bot',
    scopes: ['im:write', 'mpim:write', 'channels:manage', 'groups:write'],
    answer: openDirect,
  },
  'usergroups.users.list': { token: 'bot', scopes: ['usergroups:read'], answer: groupMembers },
  'users.info': { token: 'bot', scopes: ['users:read'], answer: oneUser },
  'users.list': { token: 'bot', scopes: ['users:read'], answer: listUsers },
  'users.lookupByEmail': { token: 'bot', scopes: ['users:read.email'], answer: userByEmail },
};

function groupMembers(args: JsonObject, { workspace }: MethodContext): JsonObject {
  const members = workspace.userGroups.get(text(args, 'usergroup'));
  if (members === undefined) throw new SlackRefusal('no_such_subteam');
  return { users: [...members] };
}

function self(_args: JsonObject, { workspace }: MethodContext): JsonObject {
  return {
    url: `https://${workspace.teamDomain}.slack.com/`,
    team: 'Holdpoint demo',
    user: 'holdpoint',
    team_id: workspace.teamId,
    user_id: workspace.botUserId,
    bot_id: workspace.botId,
    is_enterprise_install: false,
  };
}

function listChannels(args: JsonObject, { workspace, scopes }: MethodContext): JsonObject {
  const types = (text(args, 'types') || 'public_channel').split(',').map((type) => type.trim());
  for (const type of types) {
    const needed = scopeOf[type];
    if (needed === undefined) throw new SlackRefusal('invalid_types');
    if (!scopes.includes(needed)) {
      throw new SlackRefusal('missing_scope', { needed, provided: scopes.join(',') });
    }
  }
  const listed = workspace.channels.filter(
    (channel) =>
      types.includes(typeOf(channel)) &&
      (!channel.isPrivate || channel.hasBot) &&
      !(args['exclude_archived'] === true && channel.isArchived),
  );
  const { page, cursor } = pageOf(listed, args);
  return { channels: page.map(channelJson), response_metadata: { next_cursor: cursor } };
}

const scopeOf: Record<string, string> = {
  public_channel: 'channels:read',
  private_channel: 'groups:read',
  im: 'im:read',
  mpim: 'mpim:read',
};

function typeOf({ isPrivate, partner }: FakeChannel): string {
  if (partner !== null) return 'im';
  return isPrivate ? 'private_channel' : 'public_channel';
}

function joinChannel(args: JsonObject, context: MethodContext): JsonObject {
  const channel = channelOf(context, args);
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  channel.hasBot = true;
  return { channel: channelJson(channel) };
}

function openDirect(args: JsonObject, context: MethodContext): JsonObject {
  const user = context.workspace.users.find(({ id }) => id === text(args, 'users'));
  if (user === undefined) throw new SlackRefusal('user_not_found');
  return { channel: { id: context.workspace.directChannel(user.id).id } };
}

function oneUser(args: JsonObject, context: MethodContext): JsonObject {
  const user = context.workspace.users.find(({ id }) => id === text(args, 'user'));
  if (user === undefined) throw new SlackRefusal('user_not_found');
  return { user: userJson(context, user) };
}

function listUsers(args: JsonObject, context: MethodContext): JsonObject {
  const { page, cursor } = pageOf(context.workspace.users, args);
  return {
    members: page.map((user) => userJson(context, user)),
    response_metadata: { next_cursor: cursor },
  };
}

function userByEmail(args: JsonObject, context: MethodContext): JsonObject {
  const email = text(args, 'email').toLowerCase();
  const user = context.workspace.users.find((each) => each.email === email && !each.isDeleted);
  if (user === undefined) throw new SlackRefusal('users_not_found');
  return { user: userJson(context, user) };
}

/** Returns a page and the opaque cursor of the next page; the cursor is empty at the end. */
function pageOf<T>(all: readonly T[], args: JsonObject): { page: T[]; cursor: string } {
  const asked = text(args, 'cursor');
  const from = asked === '' ? 0 : Number(/^next:(\d{1,9})=*$/.exec(decode(asked))?.[1] ?? -1);
  if (from < 0) throw new SlackRefusal('invalid_cursor');
  const size = Math.min(Math.max(Number(args['limit'] ?? 100) || 100, 1), 1_000);
  const isLast = from + size >= all.length;
  const cursor = isLast ? '' : Buffer.from(`next:${from + size}`).toString('base64');
  return { page: all.slice(from, from + size), cursor };
}

function decode(cursor: string): string {
  return Buffer.from(cursor, 'base64').toString('utf8');
}
