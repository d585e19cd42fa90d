import { expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../helpers/agent-process.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { sharedFiguresOf } from '../helpers/shared-figures.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, reached, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

const minute = 60_000;

/** What a busy machine may be late, in milliseconds; less than clocks are apart. */
const slack = 20_000;

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const hold = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

/** Starts daemons of one agent whose machines are a minute behind, right, and a minute ahead. */
async function startApart(timeout: string) {
  const server = await PostgresServer.start();
  onTestFinished(() => server.remove());
  const database = await server.createDatabase();
  const settings = deferring({ timeout }, { on_restart: 'resume' });
  const start = async (shift: number): Promise<AgentProcess> => {
    const folder = new AgentFolder({ ...settings, store: { kind: 'postgres' } });
    onTestFinished(() => folder.remove());
    const own = {
      SERVICE_DATABASE_URL: server.url(database),
      HOLDPOINT_CLOCK_SHIFT: String(shift),
    };
    const preloaded = ['--import', new URL('../helpers/shifted-clock.ts', import.meta.url).href];
    return launchAgentProcess(folder, onTestFinished, [], preloaded, own);
  };
  const agents = [await start(-minute), await start(0), await start(minute)];
  return { agents: agents as [AgentProcess, AgentProcess, AgentProcess], server, database };
}

/** How far a time in an answer is from now, in milliseconds. */
const awayFrom = (now: number, time: string): number => Math.abs(Date.parse(time) - now);

it('clocks two minutes apart: deadlines and times come from the database', async () => {
  const { agents, server, database } = await startApart('4s');
  for (const [index, agent] of agents.entries()) {
    const id = `t${index}`;
    const began = Date.now();
    const answer = agent.send(id, pay);
    const other = agents[(index + 1) % 3] as AgentProcess;
    const waiting = await reached(other, id, 'deferred');
    expect(awayFrom(began, waiting.status.timestamp)).toBeLessThan(slack);
    const { body } = await other.get('/deferrals');
    const [{ requested_at: requested, expires_at: expires }] = body.deferrals;
    expect(Date.parse(expires) - Date.parse(requested)).toBe(4_000);
    const ended = await answer;
    expect(ended.body.status.state).toBe('failed');
    expect(textOf(ended)).toBe('defer: no decision within 4s (auto-deny)');
    const lasted = Date.now() - began;
    expect([lasted > 3_900, lasted < 4_000 + slack]).toEqual([true, true]);
  }
  const lines = await sharedLog(server, database);
  const now = Date.now();
  expect(lines.filter(({ ts }) => awayFrom(now, String(ts)) > minute)).toEqual([]);
});

it('clocks two minutes apart: a waiting call is decided anywhere, and no daemon counts as exited', async () => {
  const { agents, server, database } = await startApart('30s');
  const [behind, right, ahead] = agents;
  const pairs = [
    [behind, ahead],
    [ahead, behind],
    [right, ahead],
  ] as const;
  for (const [index, [held, decider]] of pairs.entries()) {
    const answer = held.send(`t${index}`, pay);
    await reached(decider, `t${index}`, 'deferred');
    const decided = await decider.decide(`t${index}`, { decision: 'approve', approver: 'ann' });
    expect(decided.status).toBe(200);
    expect(textOf(await answer)).toBe('paid');
  }
  const figures = await Promise.all(agents.map(sharedFiguresOf));
  expect(figures.map(({ takeovers }) => takeovers)).toEqual([0, 0, 0]);
  const killed = behind.send('t9', hold);
  killed.catch(() => undefined);
  await vi.waitFor(() => expect(behind.folder.held).toHaveLength(1), patient);
  await behind.kill();
  const task = await reached(ahead, 't9', 'failed');
  expect(textOf({ body: task })).toContain('its outcome is unknown');
  expect(agents.flatMap(({ folder }) => folder.paid)).toHaveLength(3);
  await sharedLog(server, database);
});
