import type { A2aSendJson } from '../../../../http/wire/dashboard/a2a-json.ts';
import { shellWord } from '../../../../machines/shell-word.ts';

/** A request template of the console. */
export interface Operation {
  name: string;
  version: '' | '0.3' | '1.0';
  method: 'GET' | 'POST';
  path: string;
  body: string;
}

/** A new ID each time: an agent treats a known message ID as a repeated message. */
const messageId = `console-${Date.now().toString(36)}`;

const message = (role: string) => ({
  message: { role, messageId, parts: [{ kind: 'text', text: 'Hello' }] },
});

const modernMessage = {
  message: { role: 'ROLE_USER', messageId, parts: [{ text: 'Hello' }] },
};

/** The request templates, 0.3 first. */
export const operations: readonly Operation[] = [
  call('message/send', '0.3', message('user')),
  call('message/stream', '0.3', message('user')),
  call('tasks/get', '0.3', { id: 'TASK' }),
  call('tasks/cancel', '0.3', { id: 'TASK' }),
  call('tasks/resubscribe', '0.3', { id: 'TASK' }),
  call('SendMessage', '1.0', modernMessage),
  call('SendStreamingMessage', '1.0', modernMessage),
  call('GetTask', '1.0', { id: 'TASK' }),
  call('ListTasks', '1.0', {}),
  call('CancelTask', '1.0', { id: 'TASK' }),
  { name: 'GET of a path', version: '', method: 'GET', path: '/healthz', body: '' },
];

/** Returns the curl command for the same request. A token is written as a variable, never as its value. */
export function curlOf(
  base: string,
  { method, path, version = '', body }: Pick<A2aSendJson, 'method' | 'path' | 'version' | 'body'>,
  hasToken: boolean,
): string {
  return [
    'curl -N',
    ...(method === 'POST' ? [] : ['-X GET']),
    shellWord(base.replace(/\/+$/, '') + path),
    ...(method === 'POST' ? [`-H 'Content-Type: application/json'`] : []),
    ...(version === '' ? [] : [`-H 'A2A-Version: ${version}'`]),
    ...(hasToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body === undefined || body === '' ? [] : [`-d ${shellWord(body)}`]),
  ].join(' ');
}

function call(method: string, version: '0.3' | '1.0', params: object): Operation {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }, null, 2);
  return { name: method, version, method: 'POST', path: '/', body };
}
