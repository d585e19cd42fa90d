import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { Problem } from '../wire/problem.ts';

/**
 * Reads the body of a 0.3.0 REST request that sets a push notification config. The config is either bare or wrapped as
 * `{parent, configId, config}` (Protocol Buffers) or `{config}` (protocol text), and its task is named in it or by the
 * path (docs/contract/a2a.md). Returns the single format that the SDK reads. Throws a 400 Problem for a body that names
 * a different task than the path.
 */
export function restPushConfig(sent: unknown, taskId: string): unknown {
  if (!isJsonObject(sent)) return sent;
  const holder = objectIn(sent, 'config') ?? sent;
  const config = objectIn(holder, 'pushNotificationConfig', 'push_notification_config') ?? holder;
  if (!('url' in config)) return sent;
  const [, inName] = /^tasks\/([^/]+)/.exec(textIn(holder, 'name') ?? '') ?? [];
  const [, inParent] = /^tasks\/([^/]+)/.exec(textIn(sent, 'parent') ?? '') ?? [];
  const said = [inName, inParent, textIn(holder, 'taskId', 'task_id')];
  if (said.some((id) => id !== undefined && id !== taskId)) {
    throw new Problem('invalid_body', 'the body names another task than the path');
  }
  const id = textIn(config, 'id') ?? textIn(sent, 'configId', 'config_id');
  return {
    name: `tasks/${encodeURIComponent(taskId)}`,
    pushNotificationConfig: { ...config, ...(id === undefined ? {} : { id }) },
  };
}

function objectIn(holder: JsonObject, ...names: string[]): JsonObject | undefined {
  return names.map((name) => ownIn(holder, name)).find(isJsonObject);
}

/** Protocol Buffers serialise an absent text as an empty one. */
function textIn(holder: JsonObject, ...names: string[]): string | undefined {
  return names
    .map((name) => ownIn(holder, name))
    .find((value) => typeof value === 'string' && value !== '') as string | undefined;
}

function ownIn(holder: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}
