import type { DeliveryFault } from '../../channel-adapter.ts';

/** The delivery fault of a Slack error code, and its remedy. */
export interface Remedy {
  fault: Exclude<DeliveryFault, 'later'>;
  todo: string;
}

const token = 'put a token of an installed Slack app into the environment';
const scope = 'give the Slack app the scope that it lacks and install it again';
const posting = 'let the bot post in the channel';
const form = 'Slack does not take the message in this form';
const gone = 'the message cannot be changed any more';

const targets: Record<string, string> = {
  not_in_channel: 'invite the bot into the channel with /invite and its name',
  channel_not_found: 'name a channel that exists, and invite the bot if it is private',
  is_archived: 'name a channel that is not archived',
  restricted_action: posting,
  restricted_action_read_only_channel: posting,
  restricted_action_thread_only_channel: posting,
  restricted_action_non_threadable_channel: posting,
  posting_to_general_channel_denied: posting,
  posting_to_channel_denied: posting,
  cannot_reply_to_message: posting,
  user_not_found: 'use a member of the workspace',
  user_disabled: 'use a current member of the workspace',
  messages_tab_disabled: 'let people write to the app in its settings',
  cannot_dm_bot: 'name a channel or a person, not a bot',
  missing_scope: scope,
  no_permission: scope,
  not_allowed_token_type:
    'put the token of the bot (xoxb-) and of the app (xapp-) into the right places',
  invalid_auth: token,
  not_authed: token,
  account_inactive: token,
  token_revoked: token,
  token_expired: token,
  app_uninstalled: token,
  app_not_found: token,
  access_denied: token,
  ekm_access_denied: token,
  org_login_required: token,
  team_access_not_granted: token,
  team_disabled: token,
  user_removed_from_team: token,
  two_factor_setup_required: token,
  enterprise_is_restricted: token,
};

const goneMessages: Record<string, string> = {
  message_not_found: 'the message is gone',
  thread_not_found: 'the message is gone',
  cant_update_message: gone,
  edit_window_closed: gone,
};

const messages: Record<string, string> = {
  cant_delete_message: gone,
  msg_too_long: form,
  msg_blocks_too_long: form,
  invalid_blocks: form,
  invalid_blocks_format: form,
  invalid_attachments: form,
  invalid_metadata_format: form,
  invalid_metadata_schema: form,
  metadata_too_large: form,
  metadata_must_be_sent_from_app: form,
  too_many_attachments: form,
  no_text: form,
  invalid_arguments: form,
  invalid_arg_name: form,
  invalid_array_arg: form,
  invalid_charset: form,
  invalid_form_data: form,
  invalid_post_type: form,
};

/** Remedies of the error codes that need a person. */
export const remedies: ReadonlyMap<string, Remedy> = new Map<string, Remedy>([
  ...entriesOf(targets, 'target'),
  ...entriesOf(goneMessages, 'gone'),
  ...entriesOf(messages, 'message'),
]);

/** Error codes after which the connection fails until a person fixes the app or its tokens. */
export const brokenTokens: ReadonlySet<string> = new Set(
  Object.keys(targets).filter((code) => [token, scope].includes(targets[code] ?? '')),
).union(new Set(['not_allowed_token_type']));

function entriesOf(todos: Record<string, string>, fault: Remedy['fault']): [string, Remedy][] {
  return Object.entries(todos).map(([code, todo]) => [code, { fault, todo }]);
}
