import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/machines/json.ts';
import type { FakeView, Workspace } from '../workspace/workspace.ts';
import { checkBlocks, checkLimits } from './block-limits.ts';
import { type Method, type MethodContext, text } from './method.ts';
import { malformed, SlackRefusal } from './slack-refusal.ts';

/** Maximum size of a view in bytes of JSON. */
const largestView = 250_000;

/** The methods for modals. */
export const viewMethods: Record<string, Method> = {
  'views.open': { token: 'bot', scopes: [], answer: openView },
  'views.update': { token: 'bot', scopes: [], answer: updateView },
};

function openView(args: JsonObject, { workspace, triggerLife }: MethodContext): JsonObject {
  const trigger = workspace.useTrigger(text(args, 'trigger_id'), triggerLife);
  if ('error' in trigger) throw new SlackRefusal(trigger.error);
  const content = checkView(args['view'] ?? null);
  const view: FakeView = {
    id: `V${randomBytes(5).toString('hex').toUpperCase()}`,
    hash: newHash(),
    user: trigger.user,
    isOpen: true,
    content,
  };
  workspace.views.push(view);
  return { view: viewJson(workspace, view) };
}

function updateView(args: JsonObject, { workspace }: MethodContext): JsonObject {
  const view = workspace.views.find(({ id }) => id === text(args, 'view_id'));
  if (view === undefined || !view.isOpen) throw new SlackRefusal('not_found');
  const hash = text(args, 'hash');
  if (hash !== '' && hash !== view.hash) throw new SlackRefusal('hash_conflict');
  replaceView(view, args['view'] ?? null);
  return { view: viewJson(workspace, view) };
}

/** Replaces the content of an open modal. Throws SlackRefusal if the content exceeds Slack's limits. */
export function replaceView(view: FakeView, content: JsonValue): void {
  view.content = checkView(content);
  view.hash = newHash();
}

/** Returns a view in Slack's JSON format. */
export function viewJson(workspace: Workspace, { id, hash, content }: FakeView): JsonObject {
  return {
    private_metadata: '',
    callback_id: '',
    clear_on_close: false,
    notify_on_close: false,
    close: null,
    submit: null,
    external_id: '',
    ...content,
    id,
    hash,
    team_id: workspace.teamId,
    app_id: workspace.appId,
    bot_id: workspace.botId,
    root_view_id: id,
    previous_view_id: null,
    state: { values: {} },
  };
}

function checkView(view: JsonValue): JsonObject {
  const error = 'invalid_arguments';
  if (!isJsonObject(view)) throw malformed(error, 'must be an object', '/view');
  if (Buffer.byteLength(JSON.stringify(view)) > largestView) {
    throw new SlackRefusal('view_too_large');
  }
  if (view['type'] !== 'modal') throw malformed(error, 'must be modal', '/view/type');
  const texts = {
    title: 24,
    'submit?': 24,
    'close?': 24,
    'private_metadata?': 3_000,
    'callback_id?': 255,
  };
  checkLimits(view, { texts }, error, '/view');
  const blocks = view['blocks'] ?? null;
  checkBlocks(blocks, { error, most: 100, path: '/view/blocks' });
  const hasInput = blocks.some((block) => block['type'] === 'input');
  if (hasInput && !isJsonObject(view['submit'])) {
    throw malformed(error, 'submit is required when an input block is within blocks', '/view');
  }
  return view;
}

function newHash(): string {
  return `${Date.now()}.${randomBytes(4).toString('hex')}`;
}
