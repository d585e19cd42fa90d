import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { AgentClient } from '../../helpers/agent-client.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { cleanUp, firstLine, startCommand, temporaryFolder } from '../holdpoint.ts';

beforeAll(buildPage, 300_000);
afterAll(cleanUp);

it('the demo shows three running agents and one that cannot start, every ruling and waiting calls, and removes all of it', async () => {
  const home = await temporaryFolder();
  const words = ['ui', '--demo', '--port', '0', '--no-open', '--json'];
  const demo = startCommand(words, { env: { TMPDIR: home } });
  onTestFinished(async () => {
    demo.child.kill('SIGTERM');
    await demo.ended;
  });
  const { url } = JSON.parse(await firstLine(demo)) as { url: string };
  const { port, hash } = new URL(url);
  const page = new AgentClient(`http://127.0.0.1:${port}`, hash.replace('#token=', ''));
  // The page is there before the story has happened.
  const atFirst = (await page.get('/api/agents')).body as { id: string; status: string }[];
  expect(atFirst.map(({ id }) => id)).toEqual(['billing', 'ops', 'refunds', 'support']);
  const patience = { timeout: 120_000, interval: 100 };
  await vi.waitFor(async () => {
    const all = (await page.get('/api/agents')).body as { id: string; status: string }[];
    expect(all.map(({ id, status }) => [id, status])).toEqual([
      ['billing', 'errored'],
      ['ops', 'running'],
      ['refunds', 'running'],
      ['support', 'running'],
    ]);
    const { deferrals } = (await page.get('/api/deferrals')).body;
    const waiting = (deferrals as { agent_id: string; tool: string }[]).map(
      ({ agent_id, tool }) => `${agent_id} ${tool}`,
    );
    expect(waiting.toSorted()).toEqual([
      'ops restart_service',
      'ops rotate_key',
      'ops scale_service',
      'refunds issue_refund',
    ]);
    const states = await Promise.all(
      ['refunds', 'support'].map(async (id) => {
        const { tasks } = (await page.get(`/api/agents/${id}/tasks`)).body;
        return (tasks as { state: string }[]).map(({ state }) => state).toSorted();
      }),
    );
    expect(states).toEqual([
      ['completed', 'deferred', 'failed'],
      ['completed', 'failed', 'failed'],
    ]);
  }, patience);
  const agents = atFirst.filter(({ id }) => id !== 'billing');
  expect((await page.get('/api/agents/billing')).body.error).toContain('BILLING_MODEL is not set');
  const seen = new Set<string>();
  for (const { id } of agents) {
    const { tasks } = (await page.get(`/api/agents/${id}/tasks`)).body;
    for (const task of tasks as { id: string; state: string }[]) {
      seen.add(task.state);
      const detail = (await page.get(`/api/agents/${id}/tasks/${task.id}`)).body;
      for (const { layer, decision } of detail.decisions) seen.add(`${layer} ${decision}`);
    }
    const audit = (await page.get(`/api/agents/${id}/audit?limit=500`)).body;
    expect(audit.verified).toMatchObject({ ok: true });
  }
  expect([...seen]).toEqual(
    expect.arrayContaining([
      ...['completed', 'deferred', 'failed'],
      ...['intent_alignment deny', 'step_up step_up', 'modify modify', 'defer defer'],
    ]),
  );
  const sessions = (await page.get('/api/agents/refunds/sessions')).body;
  expect(sessions).toHaveLength(3);

  demo.child.kill('SIGTERM');
  await demo.ended;
  await vi.waitUntil(() => readdirSync(home).length === 0, { timeout: 90_000, interval: 50 });
});
