import { connect, type Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import { deferring, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Enough for the buffers of the kernel, with several MiB to spare. */
const rounds = 10;
const text = 'x'.repeat(1_500_000);

/** Sends a task with a large history whose state changes twice a round. */
function sendLarge(agent: TestAgent) {
  const steps = Array.from({ length: rounds }, (_, round) => ({ tool: 'pay', args: { round } }));
  const { parts } = playing([...steps, { say: 'done' }]) as { parts: object[] };
  return agent.post('/tasks/send', {
    id: 't1',
    message: { parts: [{ kind: 'text', text }, ...parts] },
  });
}

/** Joins a task and reads nothing of it. */
async function joinAndPause(agent: TestAgent, path: string): Promise<Socket> {
  const { hostname, port } = new URL(agent.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return socket;
}

async function approveAll(agent: TestAgent): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await expect
      .poll(async () => (await agent.get('/deferrals')).body.deferrals[0]?.args.round, {
        timeout: 20_000,
        interval: 10,
      })
      .toBe(round);
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
  }
}

it('the stream of a reader that reads nothing is closed, and no other', async () => {
  const agent = await startTestAgent(deferring());
  const held = sendLarge(agent);
  await agent.reached('t1', 'deferred');
  const paused = await joinAndPause(agent, '/tasks/t1/events');
  const reader = await agent.stream('/tasks/t1/events');
  const everything = reader.rest();
  await approveAll(agent);
  expect((await held).body.status.state).toBe('completed');

  let received = '';
  paused.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  await new Promise((closed) => paused.once('close', closed).resume());
  const seen = [...received.matchAll(/^id: (\S+)\r?$/gm)].map(([, id]) => id);
  expect(seen.length).toBeGreaterThan(0);
  expect(received).not.toContain('event: result');

  const events = await everything;
  expect(events.at(-1)).toMatchObject({
    event: 'result',
    data: { status: { state: 'completed' } },
  });
  const states = events
    .filter(({ event }) => event === 'status')
    .map(({ data }) => data.status.state);
  expect(states.filter((state) => state === 'deferred')).toHaveLength(rounds);

  const rejoined = await agent.stream('/tasks/t1/events', { lastEventId: seen.at(-2) ?? '' });
  expect((await rejoined.rest()).map(({ event }) => event)).toEqual(['status', 'result']);
  expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
});

it('a slow reader does not count as disconnected', async () => {
  const agent = await startTestAgent(deferring());
  const { hostname, port } = new URL(agent.url);
  const steps = Array.from({ length: rounds + 1 }, (_, round) => ({
    tool: 'pay',
    args: { round },
  }));
  const { parts } = playing(steps) as { parts: object[] };
  const body = JSON.stringify({ id: 't1', message: { parts: [{ kind: 'text', text }, ...parts] } });
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => undefined);
  const closed = new Promise((done) => socket.once('close', done));
  socket.write(
    `POST /tasks/sendSubscribe HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await approveAll(agent);
  socket.resume();
  await closed;
  await expect
    .poll(async () => (await agent.get('/deferrals')).body.deferrals[0]?.args.round, {
      timeout: 20_000,
    })
    .toBe(rounds);
  expect((await agent.get('/tasks/t1')).body.status.state).toBe('deferred');
  await agent.post('/tasks/t1/cancel');
});
