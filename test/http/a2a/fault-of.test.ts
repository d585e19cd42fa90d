import { expect, it } from 'vitest';
import { faultOf } from '../../../src/http/a2a/guarded-handler.ts';
import { loadSdk } from '../../../src/http/a2a/sdk.ts';

const sdk = await loadSdk();

it.each<[string, unknown, string | null]>([
  ['getTask', undefined, 'the id of a task is missing'],
  ['getTask', { id: 't1', historyLength: 0 }, null],
  ['getTask', { id: 't1', historyLength: -1 }, 'historyLength must be a whole number'],
  ['getTask', { id: 't1', historyLength: '1' }, 'historyLength must be a whole number'],
  ['getTask', { id: 7 }, 'the id of a task is missing'],
  ['sendMessage', { id: 7 }, 'id must be a string'],
  ['sendMessage', { message: { role: 0 } }, null],
  ['sendMessage', { message: { role: 1 } }, null],
  ['sendMessage', { message: { role: 2 } }, null],
  ['sendMessage', { message: { role: -1 } }, 'message.role must be user or agent'],
  [
    'sendMessage',
    { configuration: { historyLength: 1.5 } },
    'historyLength must be a whole number',
  ],
  [
    'sendMessage',
    { configuration: { taskPushNotificationConfig: { url: {} } } },
    'url must be a string',
  ],
  [
    'createTaskPushNotificationConfig',
    { taskId: 't1', authentication: { scheme: 'Bearer', credentials: 5 } },
    'credentials must be a string',
  ],
  ['deleteTaskPushNotificationConfig', { taskId: 't1', id: 'c1' }, null],
  [
    'deleteTaskPushNotificationConfig',
    { taskId: 't1' },
    'the id of a push notification config is missing',
  ],
])('%s with %j: %j', (method, params, fault) => {
  expect(faultOf(sdk, method, params)).toBe(fault);
});
