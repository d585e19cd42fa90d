import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aServer, type SeenRequest } from '../actors/outbound/egress/a-server.ts';
import { cleanUp, startCommand } from '../cli/holdpoint.ts';
import { AgentClient } from '../helpers/agent-client.ts';
import type { AgentFolder } from '../helpers/agent-folder.ts';
import { readLog } from '../helpers/kept-log.ts';
import { patient } from '../helpers/patient.ts';
import { expectIntact, readAudit, startInFolder, type TestAgent } from '../helpers/test-agent.ts';
import { outwardFolder, startOutward } from './egress-agent.ts';

afterAll(cleanUp);

/** Every awaited event arrives sooner. */
const script = [{ tool: 'echo' }, { say: 'hi' }];

/** A collector with configured answers, which keeps what it has accepted. */
async function startReceiver() {
  const receiver = {
    /** What it answers; `null` for nothing at all. */
    status: 200 as number | null,
    requests: [] as SeenRequest[],
    held: [] as ServerResponse[],
    /** The text of all lines it took. */
    taken: '',
    url: '',
  };
  const { port } = await aServer((request, response) => {
    receiver.requests.push(request);
    if (receiver.status === null) return void receiver.held.push(response);
    if (receiver.status < 300) receiver.taken += request.body;
    response.writeHead(receiver.status, { location: '/elsewhere' }).end();
  });
  receiver.url = `http://127.0.0.1:${port}/audit`;
  return receiver;
}

const posting = (url: string, more: object = {}) => ({
  audit: { sinks: [{ type: 'http', url, ...more }] },
});

const logPath = (folder: AgentFolder): string => join(folder.path, '.service/audit.ndjson');

/** The lines that a stalled machine may add: a sink that was lost for a moment, a clock that was set. */
const addedByStalls = new Set(['audit_sink', 'clock_stepped']);

/** The events of a log in which an agent started and ran these tasks. */
const eventsOf = (tasks: readonly string[]): string[] => [
  'policy_loaded',
  'agent_card_published',
  ...tasks.flatMap(() => [
    'session_start',
    'llm_call',
    'call_ruled',
    'tool_exec',
    'tool_exec',
    'llm_call',
    'session_end',
  ]),
];

/** What the log says of sinks. */
function flipsOf(path: string): unknown[] {
  return readAudit(path)
    .filter(({ event }) => event === 'audit_sink')
    .map(({ fields }) => fields);
}

async function metricsOf(agent: TestAgent): Promise<string[]> {
  const { body } = await agent.get('/metrics');
  return String(body)
    .split('\n')
    .filter((line) => line.startsWith('holdpoint_audit'));
}

describe('a collector', () => {
  it('gets the exact bytes of the log, and its deliveries add no lines', async () => {
    const receiver = await startReceiver();
    const token = 'canary-8842-collector-token';
    const settings = posting(receiver.url, { token_env: 'COLLECTOR_TOKEN', batch: 3 });
    const agent = await startOutward(settings, { COLLECTOR_TOKEN: token });
    for (const id of ['t', 'u']) expect((await agent.send(id, script)).status).toBe(200);
    await agent.stop();
    const text = readLog(agent.auditPath);
    expect(receiver.taken).toBe(text);
    expect(readAudit(agent.auditPath).map(({ event }) => event)).toEqual(eventsOf(['t', 'u']));
    for (const { method, url, headers, body } of receiver.requests) {
      expect([method, url, headers['content-type'], headers.authorization]).toEqual([
        'POST',
        '/audit',
        'application/x-ndjson',
        `Bearer ${token}`,
      ]);
      expect(body.split('\n').length - 1).toBeLessThanOrEqual(3);
    }
    expect(text + JSON.stringify(agent.log)).not.toContain(token);
  });

  it.each([
    ['refuses', 503, 'the collector answered with 503'],
    ['sends lines elsewhere', 307, expect.stringMatching(/^the collector cannot be reached \(/)],
  ])(
    'that %s is reported down once and up once, and gets every line',
    async (_, status, error) => {
      const receiver = await startReceiver();
      receiver.status = status;
      const agent = await startOutward(posting(receiver.url));
      expect((await agent.send('t', script)).body.status.state).toBe('completed');
      await vi.waitUntil(() => flipsOf(agent.auditPath).length === 1, patient);
      // It keeps being refused before it is corrected.
      await vi.waitUntil(() => receiver.requests.length >= 2, patient);
      receiver.status = 200;
      await vi.waitUntil(() => flipsOf(agent.auditPath).length === 2, patient);
      await agent.stop();
      expect(flipsOf(agent.auditPath)).toEqual([
        { sink: 'http', state: 'down', dropped: 0, error },
        { sink: 'http', state: 'up', dropped: 0 },
      ]);
      expect(receiver.taken).toBe(readLog(agent.auditPath));
      expect(receiver.requests.map(({ url }) => url)).not.toContain('/elsewhere');
      await expectIntact(agent.auditPath);
    },
    30_000,
  );

  it('that never answers delays neither work nor the log', async () => {
    const [silent, other] = [await startReceiver(), await startReceiver()];
    silent.status = null;
    const sinks = [silent, other].map(({ url }) => ({ type: 'http', url, timeout: '1h' }));
    const agent = await startOutward({ audit: { sinks } });
    await vi.waitUntil(() => silent.held.length === 1, patient);
    for (const id of ['t', 'u', 'v']) {
      expect((await agent.send(id, script)).body.status.state).toBe('completed');
    }
    const worked = readAudit(agent.auditPath).filter(({ event }) => !addedByStalls.has(event));
    expect(worked.map(({ event }) => event)).toEqual(eventsOf(['t', 'u', 'v']));
    expect([silent.requests.length, silent.taken]).toEqual([1, '']);
    await vi.waitFor(async () => {
      const text = readLog(agent.auditPath);
      const count = text.split('\n').length - 1;
      expect(await metricsOf(agent)).toEqual([
        'holdpoint_audit_lag_events 0',
        'holdpoint_audit_sink_delivered_total{sink="http"} 0',
        `holdpoint_audit_sink_delivered_total{sink="http-2"} ${count}`,
        'holdpoint_audit_sink_dropped_total{sink="http"} 0',
        'holdpoint_audit_sink_dropped_total{sink="http-2"} 0',
        `holdpoint_audit_sink_lag_events{sink="http"} ${count}`,
        'holdpoint_audit_sink_lag_events{sink="http-2"} 0',
      ]);
      // A batch whose answer was lost comes again.
      expect([...new Set(other.taken.split('\n'))]).toEqual(text.split('\n'));
    }, patient);
    expect(flipsOf(agent.auditPath)).not.toContainEqual(expect.objectContaining({ sink: 'http' }));
  });

  it('that is away for too long misses lines, and the log has their number', async () => {
    const receiver = await startReceiver();
    receiver.status = 503;
    const { audit } = posting(receiver.url);
    // Every turn of the model leaves a line of 16 KiB.
    const agent = await startOutward({ audit: { ...audit, capture: { llm_messages: true } } });
    const words = 'x'.repeat(16_384);
    const run = async (client: number): Promise<void> => {
      for (let at = 0; at < 110; at += 1) {
        const { status } = await agent.send(`t-${client}-${at}`, [{ say: words }]);
        expect(status).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, client) => run(client)));
    receiver.status = 200;
    const flips = () => flipsOf(agent.auditPath) as { state: string; dropped: number }[];
    // The sink is tried again after a pause, which grows to a minute while the sends above take their time.
    await vi.waitUntil(() => flips().at(-1)?.state === 'up', { ...patient, timeout: 75_000 });
    await agent.stop();
    const dropped = flips().reduce((sum, flip) => sum + flip.dropped, 0);
    expect(dropped).toBeGreaterThan(0);
    const all = readLog(agent.auditPath).split('\n').filter(Boolean);
    const taken = receiver.taken.split('\n').filter(Boolean);
    expect(taken.length + dropped).toBe(all.length);
    const known = new Set(all);
    expect(taken.filter((line) => !known.has(line))).toEqual([]);
    await expectIntact(agent.auditPath);
  }, 150_000);
});

describe('a socket', () => {
  it('gets the exact bytes of the log, also when its collector connects late and disconnects', async () => {
    const folder = outwardFolder({ audit: { sinks: [{ type: 'unix', path: 'collector.sock' }] } });
    const agent = await startInFolder(folder);
    expect((await agent.send('t', script)).status).toBe(200);
    await vi.waitUntil(() => flipsOf(agent.auditPath).length === 1, patient);
    let taken = '';
    const server = createServer((socket) => {
      socket.setEncoding('utf8').on('data', (text: string) => (taken += text));
    });
    await new Promise<void>((listening) =>
      server.listen(join(folder.path, 'collector.sock'), listening),
    );
    onTestFinished(() => void server.close());
    await vi.waitUntil(() => flipsOf(agent.auditPath).length === 2, patient);
    expect((await agent.send('u', script)).status).toBe(200);
    await agent.stop();
    await vi.waitFor(() => expect(taken).toBe(readLog(agent.auditPath)), patient);
    expect(flipsOf(agent.auditPath)).toEqual([
      {
        sink: 'unix',
        state: 'down',
        dropped: 0,
        error: 'no process reads the socket (ENOENT)',
      },
      { sink: 'unix', state: 'up', dropped: 0 },
    ]);
  }, 30_000);
});

describe('the output of the daemon', () => {
  it('has the exact bytes of the log next to the ready line', async () => {
    const folder = outwardFolder({ audit: { sinks: [{ type: 'stdout' }] } });
    const { child, ended } = startCommand(['run', '--dir', folder.path, '--port', '0']);
    const { promise: ready, resolve } = Promise.withResolvers<string>();
    let said = '';
    child.stdout?.on('data', (text: string) => {
      said += text;
      const url = /ready at (http:\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
    const { body } = await new AgentClient(await ready, null).send('t', script);
    expect(body.status.state).toBe('completed');
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    const lines = stdout.split('\n').filter((line) => line.includes('"prev_hash"'));
    expect(`${lines.join('\n')}\n`).toBe(readLog(logPath(folder)));
  });
});
