import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import type { ErrorCode } from '../../../src/http/wire/error-codes.ts';
import { denial, says, startFakePlatform } from '../../actors/access/admission/fake-platform.ts';
import type { AgentClient, Answer } from '../../helpers/agent-client.ts';
import type { ServiceSettings } from '../../helpers/agent-folder.ts';
import { rawRequest } from '../../helpers/raw-request.ts';
import { launchAgent, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { startTestSurface } from '../../helpers/test-surface.ts';
import { SurfaceRoutes } from '../surface-routes.ts';
import { refusedAtDoor } from './wire-surfaces.ts';

vi.setConfig({ testTimeout: 30_000 });

/** The form in which a surface refuses. */
type Form = 'sentence' | 'rpc' | 'aip';

/** Where each surface takes a message, and the message as it is written there. */
const surfaces: { name: string; form: Form; path: string; body: object }[] = [
  {
    name: 'legacy',
    form: 'sentence',
    path: '/tasks/send',
    body: { message: { parts: [{ kind: 'text', text: 'hi' }] } },
  },
  {
    name: 'JSON-RPC 0.3.0',
    form: 'rpc',
    path: '/',
    body: call('message/send', {
      kind: 'message',
      role: 'user',
      messageId: 'm',
      parts: [{ kind: 'text', text: 'hi' }],
    }),
  },
  {
    name: 'JSON-RPC 1.0',
    form: 'rpc',
    path: '/',
    body: call('SendMessage', { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'hi' }] }),
  },
  {
    name: 'HTTP+JSON 0.3.0',
    form: 'aip',
    path: '/v1/message:send',
    body: { message: { role: 'ROLE_USER', messageId: 'm', content: [{ text: 'hi' }] } },
  },
  {
    name: 'HTTP+JSON 1.0',
    form: 'aip',
    path: '/a2a/message:send',
    body: { message: { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'hi' }] } },
  },
];

type Surface = (typeof surfaces)[number];

/** What refuses, and what it says. */
interface Refusal {
  status: number;
  /** The code in the form of a sentence. */
  code: ErrorCode;
  said: { error: string; [key: string]: unknown };
  /** Has a surface of an agent refuse a message. */
  provoke: (surface: Surface) => Promise<{ status: number; headers: unknown; body: unknown }>;
  headers?: Record<string, unknown>;
  /** The surfaces on which it can happen; all of them when omitted. */
  forms?: Form[];
  /** True where the call has been read, and is answered under its id. */
  isRead?: boolean;
  /** What JSON-RPC says in its own way. */
  rpc?: { status: number; body: object };
}

const guarded = { auth: { required: true } };
const open = oneOf();
const closed = oneOf(guarded);
const limited = { server: { rate_limit: { write_rps: 0.001, write_burst: 1 } } } as object;

/** Starts one agent for all rows that ask for it: it forgets what it has refused. */
function oneOf(settings: ServiceSettings = {}): () => Promise<TestAgent> {
  let started: Promise<TestAgent> | undefined;
  afterAll(async () => (await started)?.close());
  return () => (started ??= launchAgent(settings));
}

const parseError = (message: string) => ({
  status: 200,
  body: { jsonrpc: '2.0', id: null, error: { code: -32700, message: `parse error: ${message}` } },
});

const refusals: Record<string, Refusal> = {
  'no token': {
    status: 401,
    code: 'unauthorized',
    said: {
      error: 'unauthorized',
      message: 'send a bearer token in the Authorization header',
    },
    headers: { 'www-authenticate': 'Bearer' },
    provoke: async (surface) => post(await closed(), surface),
  },
  'no admission': {
    status: 402,
    code: 'admission_denied',
    said: {
      error: 'admission_denied',
      reason: denial.reason,
      scope: denial.scope,
      window: denial.window,
      reset_at: denial.reset_at,
    },
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    isRead: true,
    async provoke(surface) {
      const platform = await startFakePlatform();
      platform.reply = says(denial);
      const SERVICE_ADMISSION_URL = `${platform.url}/v1/admission`;
      const env = { SERVICE_ADMISSION_URL, SERVICE_PLATFORM_TOKEN: 'x' };
      return post(await startTestAgent({}, { env }), surface);
    },
  },
  'a page of others': {
    status: 403,
    code: 'forbidden_origin',
    said: { error: 'pages of this origin may not call; list it in server.cors_origins' },
    provoke: async (surface) =>
      post(await open(), surface, { headers: { origin: 'https://evil.example' } }),
  },
  'an unknown path': {
    status: 404,
    code: 'not_found',
    said: { error: 'not found' },
    forms: ['sentence', 'aip'],
    provoke: async (surface) => post(await open(), { ...surface, path: `${surface.path}/no` }),
  },
  'another method': {
    status: 405,
    code: 'method_not_allowed',
    said: { error: 'method not allowed' },
    headers: { allow: 'POST' },
    forms: ['sentence', 'aip'],
    provoke: async ({ path }) => (await open()).request('DELETE', path),
  },
  'a body that is too long': {
    status: 413,
    code: 'body_too_large',
    said: { error: 'the body is longer than 2097152 bytes' },
    provoke: async (surface) =>
      post(await open(), surface, { body: 'x'.repeat(2 * 1024 * 1024 + 1) }),
  },
  'a body of another type': {
    status: 415,
    code: 'unsupported_media_type',
    said: { error: 'send the body as application/json' },
    provoke: async (surface) =>
      post(await open(), surface, { headers: { 'content-type': 'text/plain' } }),
  },
  'a body in an encoding nobody knows': {
    status: 415,
    code: 'unsupported_media_type',
    said: { error: 'the content encoding is unknown' },
    provoke: async (surface) =>
      post(await open(), surface, {
        body: gzipSync('{}'),
        headers: { 'content-encoding': 'morse' },
      }),
  },
  'half a body': {
    status: 400,
    code: 'invalid_json',
    said: { error: 'the body is not valid JSON' },
    rpc: parseError('the body is not valid JSON'),
    provoke: async (surface) => post(await open(), surface, { body: '{"message"' }),
  },
  'a body that is too deep': {
    status: 400,
    code: 'invalid_json',
    said: { error: 'the JSON is nested deeper than 64 levels' },
    rpc: parseError('the JSON is nested deeper than 64 levels'),
    provoke: async (surface) =>
      post(await open(), surface, { body: '['.repeat(65) + ']'.repeat(65) }),
  },
  'two hosts': {
    status: 400,
    code: 'invalid_http',
    said: { error: 'send one Host header' },
    provoke: async ({ path }) =>
      raw(await open(), `POST ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n`),
  },
  'something else expected': {
    status: 417,
    code: 'unsupported_expectation',
    said: { error: 'the request expects something else than 100-continue; send no Expect' },
    provoke: async ({ path }) =>
      raw(await open(), `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: morse\r\n`),
  },
  'too many headers': {
    status: 431,
    code: 'headers_too_large',
    said: { error: 'the request has more than 100 headers; send fewer' },
    provoke: async ({ path }) =>
      raw(await open(), `POST ${path} HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(101)}`),
  },
  'headers that are too long': {
    status: 431,
    code: 'headers_too_large',
    said: { error: 'the headers of the request are too long' },
    provoke: async ({ path }) =>
      raw(await open(), `POST ${path} HTTP/1.1\r\nHost: a\r\nX-A: ${'b'.repeat(20_000)}\r\n`),
  },
  'a header that is none': {
    status: 400,
    code: 'invalid_http',
    said: { error: 'the request is not valid HTTP' },
    provoke: async ({ path }) =>
      raw(await open(), `POST ${path} HTTP/1.1\r\nHost: a\r\nno header\r\n`),
  },
  'a chunk that is none': {
    status: 400,
    code: 'invalid_http',
    said: { error: 'the request is not valid HTTP' },
    provoke: async ({ path }) =>
      raw(
        await open(),
        `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n`,
        'no chunk\r\n',
      ),
  },
  'too many calls': {
    status: 429,
    code: 'rate_limited',
    said: { error: expect.stringMatching(/^too many requests; try again in \d+ s$/) as never },
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    async provoke(surface) {
      const agent = await startTestAgent(limited);
      await post(agent, surface);
      return post(agent, surface);
    },
  },
  'an agent that is starting': {
    status: 503,
    code: 'starting',
    said: { error: 'service is starting; try again in a moment' },
    // The surfaces of A2A begin by looking at the card, which is not there yet.
    forms: ['sentence'],
    provoke: async (surface) =>
      post((await startTestSurface({ isStarted: false })).client, surface),
  },
  'an agent without a card yet': {
    status: 503,
    code: 'starting',
    said: { error: 'service is starting; try again' },
    forms: ['rpc', 'aip'],
    isRead: true,
    provoke: async (surface) =>
      post((await startTestSurface({ isStarted: false })).client, surface),
  },
  'an agent that shuts down': {
    status: 503,
    code: 'shutting_down',
    said: { error: 'service is shutting down' },
    forms: ['sentence'],
    async provoke(surface) {
      const { client, system } = await startTestSurface();
      await system.drain(0);
      return post(client, surface);
    },
  },
  'too many long bodies': {
    status: 503,
    code: 'overloaded',
    said: { error: 'too many long requests are under way; nothing was started, so try again' },
    headers: { 'retry-after': '1' },
    async provoke(surface) {
      const { client } = await startTestSurface({ traffic: { received: 500_000 } });
      const head = 'Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"id":';
      begin(client, `POST /tasks/send HTTP/1.1\r\nHost: a\r\n${head}`);
      const body = JSON.stringify({ jsonrpc: '2.0', text: 'x'.repeat(100_000) });
      return refusedIn(() => post(client, surface, { body }));
    },
  },
  'too much that is not read': {
    status: 503,
    code: 'overloaded',
    said: {
      error:
        'too many answers wait to be read; read them or close their connections, then try again',
    },
    headers: { 'retry-after': '1' },
    async provoke(surface) {
      // More than the kernel keeps for a reader who takes nothing.
      const big = 'x'.repeat(8_000_000);
      const { client } = await startTestSurface({
        traffic: { unread: big.length * 4 },
        tools: { big: () => big },
      });
      await client.send('t1', [{ tool: 'big' }, { say: '{result}' }]);
      begin(client, 'GET /tasks/t1 HTTP/1.1\r\nHost: a\r\n\r\n');
      return refusedIn(() => post(client, surface));
    },
  },
};

const rows = Object.entries(refusals).flatMap(([name, refusal]) =>
  surfaces
    .filter(({ form }) => refusal.forms?.includes(form) ?? true)
    .map((surface) => [name, surface.name, refusal, surface] as const),
);

it.each(rows)('%s is refused in the form of %s', async (_, __, refusal, surface) => {
  const { status, headers, body } = await refusal.provoke(surface);
  const expected = expectedOf(refusal, surface.form);
  expect({ status, body }).toEqual(expected);
  const said = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  expect(said).toMatchObject({
    ...refusal.headers,
    'content-type': 'application/json; charset=utf-8',
    'x-correlation-id': expect.any(String),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
});

/** The form of each way of the surface, by how its path begins. */
const formOf: [path: RegExp, form: Form][] = [
  [/^\/(v1|a2a)\//, 'aip'],
  [/^\/(tasks|sessions|deferrals|delegations|grants|limits|events|metrics|policy)/, 'sentence'],
];

/** Ways that nobody is refused for want of a token. */
const openWays = /^GET \/(healthz|readyz|\.well-known\/.*|openapi\.json|)$/;

it('every method is refused in the form of its surface', async () => {
  const agent = await closed();
  const said = { error: 'unauthorized', message: expect.any(String) };
  const unknown: string[] = [];
  for (const way of new SurfaceRoutes().all()) {
    const [verb = '', path = ''] = way.split(' ');
    if (openWays.test(way)) continue;
    const isCall = !path.startsWith('/');
    const form = isCall ? 'rpc' : formOf.find(([one]) => one.test(path))?.[1];
    if (form === undefined) unknown.push(way);
    else {
      const target = isCall ? '/' : path.replaceAll('\\', '').replaceAll(/:(\w+Id|id)\b/g, 'x');
      const { status, body } = await agent.request(isCall ? 'POST' : verb, target);
      expect({ way, status, body }).toEqual({
        way,
        ...expectedOf({ status: 401, code: 'unauthorized', said }, form),
      });
    }
  }
  // A new way belongs into `formOf`.
  expect(unknown).toEqual([]);
});

function expectedOf(
  { status, code, said, isRead, rpc }: Pick<Refusal, 'status' | 'code' | 'said' | 'isRead' | 'rpc'>,
  form: Form,
) {
  if (form === 'sentence') return { status, body: { ...said, code } };
  if (form === 'rpc' && rpc !== undefined) return rpc;
  return refusedAtDoor({ isRpc: form === 'rpc' }, status, said, isRead === true ? 7 : null);
}

function call(method: string, message: object): object {
  return { jsonrpc: '2.0', id: 7, method, params: { message } };
}

function post(
  client: AgentClient,
  { path, body }: Pick<Surface, 'path' | 'body'>,
  more: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return client.request('POST', path, { body, ...more });
}

/** Begins a request from another connection, and reads nothing of its answer. */
function begin({ url }: AgentClient, text: string): void {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause().on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(text);
}

/** Asks until there is no room, and returns how that is said. */
async function refusedIn(asked: () => Promise<Answer>): Promise<Answer> {
  const answer = await vi.waitUntil(
    async () => {
      const given = await asked();
      return given.status === 503 && !JSON.stringify(given.body).includes('starting') && given;
    },
    { timeout: 10_000, interval: 10 },
  );
  return answer as Answer;
}

/** Sends a head as it is, and what follows it. */
async function raw({ url }: AgentClient, head: string, rest = '') {
  const { status, headers, body } = await rawRequest(
    url,
    `${head}Connection: close\r\n\r\n${rest}`,
  );
  return { status, headers, body: JSON.parse(body) as unknown };
}
