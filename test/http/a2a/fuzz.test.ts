import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
import { rawRequest } from '../../helpers/raw-request.ts';
import { runs } from '../../helpers/runs.ts';
import { launchAgent, type TestAgent } from '../../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent();
  return () => agent.close();
});

const words = [
  'id taskId contextId message messageId role parts content kind text data file url raw uri bytes',
  'configuration blocking returnImmediately historyLength pushNotificationConfig',
  'taskPushNotificationConfig authentication schemes scheme credentials token metadata extensions',
  'tenant pageSize pageToken status name filename mediaType constructor toString hasOwnProperty',
].flatMap((line) => line.split(' '));

const atom = fc.oneof(
  fc.constantFrom<unknown>('user', 'ROLE_USER', 'agent', 'text', 'data', 'file', 't1', '', 'none'),
  fc.constantFrom<unknown>(
    '\ud800',
    '\u0000',
    '__proto__',
    -1,
    0,
    1.5,
    1e308,
    null,
    true,
    'http://127.0.0.1:1/',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.integer(),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    atom,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...words), tie('value'), { maxKeys: 6 }),
  ),
}));

/** Something that is nearly a message, so that what is behind the first check is reached as well. */
const message = fc.record(
  {
    kind: fc.oneof(fc.constant('message'), atom),
    role: fc.oneof(fc.constantFrom('user', 'ROLE_USER'), atom),
    messageId: fc.oneof(fc.constant('m1'), atom),
    parts: fc.oneof(fc.array(fc.oneof(fc.constant({ kind: 'text', text: 'x' }), value)), value),
    content: fc.oneof(fc.array(fc.oneof(fc.constant({ text: 'x' }), value)), value),
    contextId: value,
    taskId: value,
    metadata: value,
    extensions: value,
    referenceTaskIds: value,
  },
  { requiredKeys: ['role', 'messageId'] },
);

const params = fc.oneof(
  value,
  fc.record({ message, configuration: value, metadata: value }, { requiredKeys: ['message'] }),
  fc.record(
    {
      id: atom,
      taskId: atom,
      historyLength: atom,
      pushNotificationConfigId: atom,
      pushNotificationConfig: value,
    },
    { requiredKeys: [] },
  ),
);

const methods = fc.constantFrom(
  ...['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe'],
  ...['set', 'get', 'list', 'delete'].map((name) => `tasks/pushNotificationConfig/${name}`),
  ...['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard', 'SendMessage', 'GetTask'],
  ...['SendStreamingMessage', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'GetNothing'],
  ...['Create', 'Get', 'List', 'Delete'].map((name) => `${name}TaskPushNotificationConfig`),
);

const version = fc.oneof(
  fc.constantFrom('', '0.3', '1.0', '0.3.0'),
  fc.string({ unit: 'binary-ascii', maxLength: 8 }).map((text) => text.replaceAll(/[^!-~]/g, '')),
);

const target = fc.oneof(
  fc.constantFrom('/v1/message:send', '/a2a/message:send', '/v1/message:stream'),
  fc.constantFrom('/a2a/message:stream', '/v1/tasks/t1:cancel', '/a2a/tasks/t1:cancel'),
  fc.constantFrom('/v1/tasks/t1/pushNotificationConfigs', '/a2a/tasks/t1/pushNotificationConfigs'),
);

/** Posts a body as it is, and returns a well-formed answer. */
async function post(path: string, said: string, body: string): Promise<number> {
  const bytes = Buffer.from(body).toString('latin1');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    ...(said === '' ? [] : [`A2A-Version: ${said}`]),
  ];
  const answer = await rawRequest(agent.url, `${head.join('\r\n')}\r\n\r\n${bytes}`);
  expect(answer.status).toBeGreaterThanOrEqual(200);
  expect(answer.status).toBeLessThan(500);
  expect(answer.headers).toMatchObject({
    'x-correlation-id': expect.any(String),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': expect.stringMatching(/^no-store/),
  });
  expect(answer.body).not.toMatch(/ {4}at |node_modules|\/src\/|Cannot read|is not a function/);
  if (answer.headers['content-type']?.startsWith('text/event-stream') !== true) {
    expect(JSON.parse(unchunked(answer.body))).toEqual(expect.any(Object));
  }
  return answer.status;
}

function unchunked(body: string): string {
  return body.startsWith('{') ? body : body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1);
}

it('a call of either version never fails internally', async () => {
  await fc.assert(
    fc.asyncProperty(methods, params, version, async (method, sent, said) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: sent });
      expect(await post('/', said, body)).toBe(200);
    }),
    { numRuns: runs(1_500), interruptAfterTimeLimit: 5_000 },
  );
  expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
});

it('a body on the routes of either version never fails internally', async () => {
  const body = fc.oneof(
    params.map((sent) => JSON.stringify(sent)),
    fc.json(),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(target, body, version, async (path, sent, said) => {
      await post(path, said, sent);
    }),
    { numRuns: runs(1_500), interruptAfterTimeLimit: 5_000 },
  );
  expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
  expect((await agent.get('/healthz')).status).toBe(200);
});
