import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stateIn, taskServer } from '../actors/tools/mcp/task-server.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type AgentProcess, runAgent } from '../helpers/agent-process.ts';
import { patient } from '../helpers/patient.ts';
import {
  deferring,
  expectIntact,
  reached,
  readAudit,
  story,
  textOf,
} from '../helpers/test-agent.ts';

type Works = Awaited<ReturnType<typeof taskServer>>;

/** An agent in a process of its own whose server continues calls as tasks. */
async function agentOf(works: Works, on_restart: 'abandon' | 'resume'): Promise<AgentProcess> {
  const { port } = new URL(works.url);
  const folder = new AgentFolder({
    ...deferring({}, { on_restart }),
    egress: { allowed_private: [`127.0.0.1:${port}`] },
    mcp: { servers: [{ name: 'works', url: works.url, tools: { deny: [] } }] },
  });
  onTestFinished(() => folder.remove());
  return runAgent(folder);
}

const build = [{ tool: 'works__build', args: { parts: 3 } }, { say: 'got {result}' }];
const calls = ({ asked }: Works) => asked.filter(({ method }) => method === 'tools/call').length;

/** Sends a task, and resolves once its call is followed as a task of the server. */
async function begun(agent: AgentProcess, works: Works): Promise<void> {
  agent.send('t1', build).catch(() => undefined);
  await vi.waitUntil(() => works.about().filter((method) => method === 'tasks/get').length > 1, {
    timeout: 20_000,
  });
}

const built = (works: Works): void => {
  works.plays['tasks/get'] = ({ taskId }) =>
    stateIn('2026-07-28', taskId, {
      status: 'completed',
      result: { content: [{ type: 'text', text: 'built' }] },
    });
};

describe('a call that its server continues as a task', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'is made once, and its result is the result of the task after a %s and a start',
    async (signal) => {
      const works = await taskServer('2026-07-28');
      const first = await agentOf(works, 'resume');
      await begun(first, works);
      first.signal(signal);
      await first.ended();
      built(works);
      const second = await runAgent(first.folder);
      const ended = await reached(second, 't1', 'completed');
      expect(textOf({ body: ended })).toBe('got built');
      expect([calls(works), works.about().includes('tasks/cancel')]).toEqual([1, false]);
      expect(JSON.stringify(ended)).not.toContain('w-1');
      const audit = readAudit(second.auditPath, 't1');
      expect(story(audit).filter(([event]) => event === 'tool_exec')).toEqual([
        ['tool_exec', { tool: 'works__build', phase: 'start' }],
        ['tool_exec', { tool: 'works__build', phase: 'end', outcome: 'succeeded' }],
      ]);
      expect(JSON.stringify(audit)).not.toContain('w-1');
      await expectIntact(second.auditPath);
    },
  );

  it('waits for its server when that is away at the start', async () => {
    const works = await taskServer('2026-07-28');
    const first = await agentOf(works, 'resume');
    await begun(first, works);
    await first.kill();
    built(works);
    works.turn(true);
    const second = await runAgent(first.folder);
    expect((await second.get('/tasks/t1')).body.status.state).toBe('working');
    works.turn(false);
    await vi.waitFor(
      async () => expect((await second.get('/tasks/t1')).body.status.state).toBe('completed'),
      { timeout: 60_000, interval: 200 },
    );
    expect(calls(works)).toBe(1);
  });

  it('is abandoned by default, like any started call', async () => {
    const works = await taskServer('2026-07-28');
    const first = await agentOf(works, 'abandon');
    await begun(first, works);
    await first.kill();
    const before = works.asked.length;
    const second = await runAgent(first.folder);
    expect(textOf({ body: await reached(second, 't1', 'failed') })).toBe(
      'interrupted by service restart',
    );
    expect(works.asked.slice(before).map(({ method }) => method)).not.toContain('tasks/get');
  });

  it('is not requested at another server', async () => {
    const works = await taskServer('2026-07-28');
    const other = await taskServer('2026-07-28');
    const first = await agentOf(works, 'resume');
    await begun(first, works);
    await first.kill();
    const path = join(first.folder.path, 'service.yaml');
    const ports = [works.url, other.url].map((url) => new URL(url).port);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(ports[0] ?? '', ports[1] ?? ''));
    const second = await runAgent(first.folder);
    expect(textOf({ body: await reached(second, 't1', 'failed') })).toBe(
      'works__build had started at another server than the one that is configured now; its outcome is unknown',
    );
    expect([other.about(), calls(other)]).toEqual([[], 0]);
  });

  it('is canceled at its server with its task', async () => {
    const works = await taskServer('2026-07-28');
    const agent = await agentOf(works, 'resume');
    await begun(agent, works);
    expect((await agent.post('/tasks/t1/cancel')).status).toBe(200);
    await vi.waitUntil(() => works.about().includes('tasks/cancel'), patient);
    expect((await agent.get('/tasks/t1')).body.status.state).toBe('canceled');
  });
});
