import { isJsonObject, type JsonObject } from '../../../src/machines/json.ts';
import type { FakeMessage } from '../workspace/workspace.ts';
import { checkBlocks, longestMessage } from './block-limits.ts';
import { type Method, type MethodContext, messageJson, text, writableChannel } from './method.ts';
import { SlackRefusal } from './slack-refusal.ts';

/** The methods that post, update and mark messages. */
export const chatMethods: Record<string, Method> = {
  'chat.postMessage': { token: 'bot', scopes: ['chat:write'], answer: postMessage },
  'chat.update': { token: 'bot', scopes: ['chat:write'], answer: update },
  'chat.delete': { token: 'bot', scopes: ['chat:write'], answer: remove },
  'chat.getPermalink': { token: 'bot', scopes: [], answer: permalink },
  'chat.postEphemeral': { token: 'bot', scopes: ['chat:write'], answer: postEphemeral },
  'reactions.add': { token: 'bot', scopes: ['reactions:write'], answer: addReaction },
  'reactions.remove': { token: 'bot', scopes: ['reactions:write'], answer: removeReaction },
};

function postMessage(args: JsonObject, context: MethodContext): JsonObject {
  const { workspace } = context;
  const channel = writableChannel(context, args);
  const said = workspace.say({
    channel: channel.id,
    user: workspace.botUserId,
    ...contentOf(args),
    threadTs: text(args, 'thread_ts') || null,
    metadata: isJsonObject(args['metadata']) ? args['metadata'] : null,
  });
  return { channel: channel.id, ts: said.ts, message: messageJson(workspace, said) };
}

function update(args: JsonObject, context: MethodContext): JsonObject {
  const { workspace } = context;
  const message = ownMessage(args, context);
  const content = contentOf(args);
  // An update without blocks removes the existing blocks.
  message.text = content.text;
  message.blocks = content.blocks;
  if (isJsonObject(args['metadata'])) message.metadata = args['metadata'];
  message.edits += 1;
  const { channel, ts, text: words } = message;
  return { channel, ts, text: words, message: messageJson(workspace, message) };
}

function remove(args: JsonObject, context: MethodContext): JsonObject {
  const message = ownMessage(args, context);
  const { messages } = context.workspace;
  messages.splice(messages.indexOf(message), 1);
  return { channel: message.channel, ts: message.ts };
}

function permalink(args: JsonObject, { workspace }: MethodContext): JsonObject {
  const message = workspace.message(text(args, 'channel'), text(args, 'message_ts'));
  if (message === undefined) throw new SlackRefusal('message_not_found');
  const { channel, ts } = message;
  const permalink = `https://${workspace.teamDomain}.slack.com/archives/${channel}/p${ts.replace('.', '')}`;
  return { channel, permalink };
}

function postEphemeral(args: JsonObject, context: MethodContext): JsonObject {
  const { workspace } = context;
  const channel = writableChannel(context, args);
  const user = workspace.users.find(({ id }) => id === text(args, 'user'));
  if (user === undefined || user.isDeleted) throw new SlackRefusal('user_not_in_channel');
  const said = workspace.say({
    channel: channel.id,
    user: workspace.botUserId,
    ...contentOf(args),
    threadTs: text(args, 'thread_ts') || null,
    onlyFor: user.id,
  });
  return { message_ts: said.ts };
}

function addReaction(args: JsonObject, context: MethodContext): JsonObject {
  const { reactions } = markedMessage(args, context);
  const name = text(args, 'name');
  if (!/^[a-z0-9_+'-]{1,100}$/.test(name)) throw new SlackRefusal('invalid_name');
  if (reactions.includes(name)) throw new SlackRefusal('already_reacted');
  reactions.push(name);
  return {};
}

function removeReaction(args: JsonObject, context: MethodContext): JsonObject {
  const { reactions } = markedMessage(args, context);
  const at = reactions.indexOf(text(args, 'name'));
  if (at === -1) throw new SlackRefusal('no_reaction');
  reactions.splice(at, 1);
  return {};
}

function markedMessage(args: JsonObject, context: MethodContext): FakeMessage {
  const channel = writableChannel(context, args);
  const message = context.workspace.message(channel.id, text(args, 'timestamp'));
  if (message === undefined) throw new SlackRefusal('message_not_found');
  return message;
}

function ownMessage(args: JsonObject, context: MethodContext): FakeMessage {
  const { workspace } = context;
  const channel = writableChannel(context, args);
  const message = workspace.message(channel.id, text(args, 'ts'));
  if (message === undefined) throw new SlackRefusal('message_not_found');
  if (message.user !== workspace.botUserId) throw new SlackRefusal('cant_update_message');
  return message;
}

function contentOf(args: JsonObject): { text: string; blocks: JsonObject[] } {
  const words = text(args, 'text');
  const blocks = args['blocks'] ?? [];
  checkBlocks(blocks, { error: 'invalid_blocks', most: 50, path: '/blocks' });
  if (words === '' && blocks.length === 0) throw new SlackRefusal('no_text');
  if (words.length > longestMessage) throw new SlackRefusal('msg_too_long');
  return { text: words, blocks };
}
