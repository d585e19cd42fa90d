import { expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { acceptsTasks, modernMcp } from '../helpers/modern-mcp.ts';
import { patient } from '../helpers/patient.ts';
import { expectIntact, launchAgent, type TestAgent } from '../helpers/test-agent.ts';
import { nine } from '../helpers/test-system.ts';
import { startToolServer } from '../helpers/tool-server.ts';

const hour = 3_600_000;
const approve = { decision: 'approve', approver: 'ann@example.com' };
const refund = { name: 'till__refund', arguments: { order: 'A-1042' } };
const ran = 'refund {"order":"A-1042"}';

/** A gateway to one server whose `refund` waits for a person for up to four hours, with the clock of the test. */
async function gatewayToTill() {
  const till = await startToolServer(['refund']);
  const clock = new ManualClock(nine);
  const rule = { to: 'channel:console:desk', timeout: '4h' };
  const folder = new AgentFolder({
    gate: {},
    server: { mcp: true },
    mcp: { servers: [{ name: 'till', url: till.url, tools: { deny: [] } }] },
    security: { defer: { enabled: true, tools: { till__refund: rule } } },
    // Over PostgreSQL deadlines go by the clock of the database, which no test moves.
    store: { kind: 'sqlite' },
  });
  onTestFinished(() => folder.remove());
  const start = async (): Promise<TestAgent> => {
    const agent = await launchAgent({}, { folder, clock });
    onTestFinished(() => agent.stop());
    const list = modernMcp(agent.url);
    await vi.waitFor(async () => {
      const { result } = await list('tools/list');
      const names = result.tools.map(({ name }: { name: string }) => name);
      expect(names).toContain(refund.name);
    }, patient);
    return agent;
  };
  const isDue = async (agent: TestAgent, at: number): Promise<void> => {
    const { deferrals } = (await agent.get('/deferrals')).body;
    expect(deferrals).toHaveLength(1);
    expect(deferrals[0].expires_at).toBe(new Date(at).toISOString());
  };
  return { till, clock, start, isDue };
}

it('the task of a client without sessions is kept over two hours and a restart', async () => {
  const { till, clock, start, isDue } = await gatewayToTill();
  const before = await start();
  const { result } = await modernMcp(before.url, acceptsTasks)('tools/call', refund);
  const { taskId } = result;
  expect(result).toMatchObject({ resultType: 'task', status: 'working' });
  clock.advance(hour);
  await before.stop();
  const agent = await start();
  const mcp = modernMcp(agent.url, acceptsTasks);
  clock.advance(hour);
  await isDue(agent, nine + 4 * hour);
  expect((await mcp('tasks/get', { taskId })).result).toMatchObject({
    status: 'working',
    statusMessage: `Waits for channel:console:desk until ${new Date(nine + 4 * hour).toISOString()}.`,
    pollIntervalMs: 10_000,
  });
  expect((await agent.decide(taskId, approve)).status).toBe(200);
  await vi.waitFor(async () => {
    const ended = (await mcp('tasks/get', { taskId })).result;
    expect(ended).toMatchObject({
      status: 'completed',
      result: { content: [{ type: 'text', text: ran }] },
    });
  }, patient);
  expect(till.ran).toEqual([['refund', refund.arguments]]);
  await expectIntact(agent.auditPath);
});

it('the call of a client with a session is kept over two hours and a restart', async () => {
  const { till, clock, start, isDue } = await gatewayToTill();
  const before = await start();
  let at = before.url;
  const client = await mcpClientAt(before.url, {
    fetch: (url, init) => fetch(String(url).replace(before.url, at), init),
  });
  const called = client.callTool(refund);
  await vi.waitFor(async () => {
    expect((await before.get('/deferrals')).body.deferrals).toHaveLength(1);
  }, patient);
  clock.advance(60_000);
  const early = await called;
  const { task_id } = early._meta as { task_id: string };
  expect(textIn(early)).toContain('The call has not run yet. It waits for channel:console:desk');
  clock.advance(hour);
  await before.stop();
  const agent = await start();
  at = agent.url;
  clock.advance(hour);
  await isDue(agent, nine + 4 * hour);
  const outcome = client.callTool({ name: 'task_result', arguments: { task_id } });
  expect((await agent.decide(task_id, approve)).status).toBe(200);
  expect(textIn(await outcome)).toBe(ran);
  expect(till.ran).toEqual([['refund', refund.arguments]]);
  await expectIntact(agent.auditPath);
});
