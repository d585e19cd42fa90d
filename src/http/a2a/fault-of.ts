import { fieldOf } from '../wire/field-of.ts';
import type { Sdk } from './sdk.ts';

/** The text fields of a push notification config. */
const texts = ['id', 'taskId', 'url', 'token'];

/** The param that names a call's task, by method. */
const taskIds: Record<string, string> = {
  getTask: 'id',
  cancelTask: 'id',
  resubscribe: 'id',
  createTaskPushNotificationConfig: 'taskId',
  getTaskPushNotificationConfig: 'taskId',
  listTaskPushNotificationConfigs: 'taskId',
  deleteTaskPushNotificationConfig: 'taskId',
};

/** Returns the problem of params parsed by the SDK, which does not check types; `null` for valid params. */
export function faultOf({ Role }: Sdk, method: string, params: unknown): string | null {
  const taskId = taskIds[method];
  if (taskId !== undefined && !isNamed(fieldOf(params, taskId))) {
    return 'the id of a task is missing';
  }
  const configuration = fieldOf(params, 'configuration');
  const role = fieldOf(fieldOf(params, 'message'), 'role');
  const roles: unknown[] = [undefined, Role.ROLE_UNSPECIFIED, Role.ROLE_USER, Role.ROLE_AGENT];
  if (!roles.includes(role)) return 'message.role must be user or agent';
  for (const holder of [params, configuration]) {
    if (!isLength(fieldOf(holder, 'historyLength'))) return 'historyLength must be a whole number';
  }
  const isDelete = method === 'deleteTaskPushNotificationConfig';
  if (isDelete && !fieldOf(params, 'id')) return 'the id of a push notification config is missing';
  for (const config of [params, fieldOf(configuration, 'taskPushNotificationConfig')]) {
    const authentication = fieldOf(config, 'authentication');
    const wrong =
      texts.find((name) => !isText(fieldOf(config, name))) ??
      ['scheme', 'credentials'].find((name) => !isText(fieldOf(authentication, name)));
    if (wrong !== undefined) return `${wrong} must be a string`;
  }
  return null;
}

function isNamed(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isLength(value: unknown): boolean {
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= 0;
  return isWhole || value === undefined || value === null;
}
