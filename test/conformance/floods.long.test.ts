import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type AgentClient, AgentClient as Client, saying } from '../helpers/agent-client.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../helpers/agent-process.ts';
import { rawRequest } from '../helpers/raw-request.ts';
import { readAudit } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const token = 'token-of-the-flood';

/** Almost as long as a body may be. */
const large = 'x'.repeat(1_900_000);

let agent: AgentProcess;
let caller: AgentClient;

beforeAll(async () => {
  const settings = { token, identity: { user_id: 'mallory' } };
  const auth = { required: true, providers: [{ type: 'static_token', name: 'ops', settings }] };
  const folder = new AgentFolder({ auth, server: {} } as ServiceSettings);
  const kills: (() => Promise<void>)[] = [];
  const later = (kill: () => Promise<void>) => void kills.push(kill);
  agent = await launchAgentProcess(folder, later, [], ['--max-old-space-size=512']);
  caller = new Client(agent.url, token);
  return async () => {
    for (const kill of kills) await kill();
    folder.remove();
  };
});

const healthy = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Expects the daemon to answer others normally. */
async function expectAlive(): Promise<void> {
  for (const from of ['127.0.0.1', '127.0.0.99']) {
    expect(await rawRequest(agent.url, healthy, from)).toMatchObject({
      status: 200,
      body: '{"status":"ok"}',
    });
  }
}

/** Opens a connection from an address of this machine, sends some bytes, and reads nothing. */
async function askAndPause(bytes: string, from: string): Promise<Socket> {
  const { hostname, port } = new URL(agent.url);
  const socket = connect({ port: Number(port), host: hostname, localAddress: from });
  socket.pause();
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

const get = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;

it('the agent survives sixty large sends at once, and two dozen unread lists of them', async () => {
  const send = (_: unknown, index: number) =>
    caller.post('/tasks/send', { id: `big-${index}`, message: saying(large) });
  const sent = await Promise.all(Array.from({ length: 60 }, send));
  for (const [index, { status, body }] of sent.entries()) {
    // An answer that there is no room for says which task it was.
    expect([status, status === 200 ? body.id : body.task_id]).toEqual([status, `big-${index}`]);
  }
  expect(sent.map(({ status }) => status)).toContain(200);
  await expectAlive();
  for (let count = 0; count < 24; count += 1) {
    await askAndPause(get('/tasks?limit=100&include=artifacts'), '127.0.0.2');
  }
  expect([200, 503]).toContain((await caller.get('/tasks?limit=1')).status);
  await expectAlive();
});

it('the agent survives unread streams of large tasks', async () => {
  for (let count = 0; count < 40; count += 1) {
    await askAndPause(get(`/tasks/big-${count}/events`), '127.0.0.3');
  }
  await expectAlive();
});

it('the agent survives connections without a request', async () => {
  const begin = 'GET /tasks HTTP/1.1\r\nHost: x\r\nX-A: ';
  await Promise.all(Array.from({ length: 900 }, () => askAndPause(begin, '127.0.0.4')));
  await expectAlive();
});

it('the agent survives cancels with bad tokens, and logs them in a few lines', async () => {
  const stranger = new Client(agent.url, 'wrong');
  const cancel = async () => {
    const found = [];
    for (let count = 0; count < 60; count += 1) {
      found.push((await stranger.post('/tasks/big-1/cancel', {})).status);
    }
    return found;
  };
  const statuses = (await Promise.all(Array.from({ length: 16 }, cancel))).flat();
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  await expectAlive();
  const told = readAudit(agent.auditPath).filter(({ event }) => event === 'auth_fail');
  expect([1, 2, 3, 4]).toContain(told.length);
});

it('the agent survives JSON of two million levels', async () => {
  const deep = '['.repeat(2 ** 21);
  // A client that is refused while it still sends the body may find the connection closed instead of the answer.
  const cutOff = ({ cause }: Error & { cause?: { code?: string } }): string =>
    cause?.code ?? 'none';
  const answers = Array.from({ length: 20 }, () =>
    caller.post('/tasks/send', deep).then(({ status }) => status, cutOff),
  );
  const outcomes = await Promise.all(answers);
  const expected = new Set<unknown>([400, 429, 'EPIPE', 'ECONNRESET']);
  expect(outcomes.filter((outcome) => !expected.has(outcome))).toEqual([]);
  expect(outcomes).toContain(400);
  await expectAlive();
});
