import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/machines/json.ts';
import { messageJson } from '../web-api/method.ts';
import { viewJson } from '../web-api/view-methods.ts';
import type {
  FakeChannel,
  FakeMessage,
  FakeUser,
  FakeView,
  Workspace,
} from '../workspace/workspace.ts';

/** Returns the `block_actions` payload for a click. */
export function blockActions(
  workspace: Workspace,
  click: {
    channel: FakeChannel;
    message: FakeMessage;
    blockId: string;
    element: JsonObject;
    user: FakeUser;
  },
): JsonObject {
  const { channel, message, blockId, element, user } = click;
  const { action_id, text, value, style, type } = element;
  const action = {
    type: type ?? 'button',
    action_id: action_id ?? '',
    block_id: blockId,
    ...(text !== undefined && { text }),
    ...(value !== undefined && { value }),
    ...(style !== undefined && { style }),
    action_ts: workspace.nextTs(),
  };
  return {
    type: 'block_actions',
    ...sender(workspace, user),
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: channel.id,
      is_ephemeral: message.onlyFor !== null,
      ...(message.threadTs !== null && { thread_ts: message.threadTs }),
    },
    trigger_id: workspace.newTrigger(user.id),
    channel: { id: channel.id, name: channel.partner === null ? channel.name : 'directmessage' },
    message: messageJson(workspace, message),
    state: { values: {} },
    response_url: `https://hooks.slack.com/actions/${workspace.teamId}/1/x`,
    actions: [action],
  };
}

/** Returns the `view_submission` payload for the values of a modal. */
export function viewSubmission(
  workspace: Workspace,
  view: FakeView,
  user: FakeUser,
  values: Record<string, string>,
): JsonObject {
  return {
    type: 'view_submission',
    ...sender(workspace, user),
    trigger_id: workspace.newTrigger(user.id),
    view: { ...viewJson(workspace, view), state: { values: stateOf(view, values) } },
    response_urls: [],
  };
}

/** Returns the `view_closed` payload for a modal that was closed without being submitted. */
export function viewClosed(workspace: Workspace, view: FakeView, user: FakeUser): JsonObject {
  return {
    type: 'view_closed',
    ...sender(workspace, user),
    view: viewJson(workspace, view),
    is_cleared: false,
  };
}

/** Wraps an event as the Events API does. */
export function eventCallback(workspace: Workspace, event: JsonObject): JsonObject {
  return {
    token: 'x',
    team_id: workspace.teamId,
    context_team_id: workspace.teamId,
    context_enterprise_id: null,
    api_app_id: workspace.appId,
    event,
    type: 'event_callback',
    event_id: `Ev${randomBytes(5).toString('hex').toUpperCase()}`,
    event_time: Math.trunc(Number(workspace.nextTs())),
    authorizations: [
      {
        enterprise_id: null,
        team_id: workspace.teamId,
        user_id: workspace.botUserId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: false,
    event_context: `4-${randomBytes(12).toString('hex')}`,
  };
}

function sender(workspace: Workspace, { id, name }: FakeUser): JsonObject {
  const { teamId, teamDomain, appId } = workspace;
  return {
    team: { id: teamId, domain: teamDomain },
    user: { id, username: name, name, team_id: teamId },
    api_app_id: appId,
    token: 'x',
    is_enterprise_install: false,
    enterprise: null,
  };
}

/** Values by block ID and element ID; an empty value is `null`. */
function stateOf({ content }: FakeView, values: Record<string, string>): JsonObject {
  const blocks = Array.isArray(content['blocks']) ? content['blocks'] : [];
  const state: JsonObject = {};
  for (const [index, block] of blocks.entries()) {
    const element = isJsonObject(block) ? block['element'] : undefined;
    if (!isJsonObject(block) || !isJsonObject(element)) continue;
    const blockId = textOr(block['block_id'], `b${index}`);
    const actionId = textOr(element['action_id'], `a${index}`);
    const value = values[actionId] ?? values[blockId] ?? '';
    if (value === '' && block['optional'] !== true) {
      throw new Error(`the modal cannot be sent: ${blockId} is empty and not optional`);
    }
    const entry = { type: element['type'] ?? '', value: value === '' ? null : value };
    state[blockId] = { [actionId]: entry };
  }
  return state;
}

function textOr(value: JsonValue | undefined, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
