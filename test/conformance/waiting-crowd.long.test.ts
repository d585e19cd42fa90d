import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { deferring, reached, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

/** Calls that one caller asks for. */
const crowd = 2_000;

const most = 100;

const tokenOf = (name: string): string => name.repeat(12);

const providers = ['ann', 'mallory'].map((name) => ({
  ...{ type: 'static_token', name },
  settings: { token: tokenOf(name), identity: { user_id: name } },
}));

const tools = {
  pay: { to: 'channel:console:desk', timeout: '1h' },
  echo: { to: 'channel:console:desk', timeout: '2h' },
};

const settings = { ...deferring({}, { tools }), auth: { providers } };

/** One caller floods the agents, another has one call that is due first. */
async function crowdIn(agents: readonly TestAgent[]): Promise<void> {
  const [first] = agents as [TestAgent, ...TestAgent[]];
  const operator = first.as(first.token);
  void first
    .as(tokenOf('ann'))
    .send('due', [{ tool: 'pay', args: {} }])
    .catch(() => undefined);
  await reached(operator, 'due', 'deferred');
  const send = (at: number) => {
    const agent = agents[at % agents.length] ?? first;
    return agent.as(tokenOf('mallory')).send(`m-${at}`, [{ tool: 'echo', args: {} }]);
  };
  const total = async () => (await operator.get('/deferrals')).body.total as number;
  for (let at = 0; at < most; at += 1) void send(at).catch(() => undefined);
  await expect.poll(total, { timeout: 30_000 }).toBe(most + 1);
  const statuses = new Set<number>();
  for (let at = most; at < crowd; at += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, more) => send(at + more)));
    for (const { status } of answers) statuses.add(status);
  }
  expect(statuses).toEqual(new Set([429]));
  const { body } = await operator.get('/deferrals?order=deadline&limit=2');
  expect(body.deferrals[0].task_id).toBe('due');
  expect(body.total).toBe(most + 1);
}

it('2,000 calls of one caller are refused at the limit, and another caller is served first', async () => {
  await crowdIn([await startTestAgent(settings)]);
});

it('waiting calls are counted over several daemons with one PostgreSQL', async () => {
  const { a, b } = await startReplicas(server, settings);
  await crowdIn([a, b]);
});
