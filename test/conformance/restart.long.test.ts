import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { type AgentProcess, runAgent } from '../helpers/agent-process.ts';
import {
  deferring,
  expectIntact,
  reached,
  readAudit,
  story,
  textOf,
} from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];
const hold = [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }];

function folderOf(settings: ServiceSettings): AgentFolder {
  const folder = new AgentFolder(settings);
  onTestFinished(() => folder.remove());
  return folder;
}

/** Sends a task, whose caller will be cut off, and resolves once it is where it should be killed. */
async function begun(agent: AgentProcess, id: string, script: object[]): Promise<void> {
  agent.send(id, script).catch(() => undefined);
  if (script === pay) await reached(agent, id, 'deferred');
  else await vi.waitFor(() => expect(agent.folder.held).toHaveLength(1), 10_000);
}

/** Kills an agent and starts it again on what it left. */
async function restarted(agent: AgentProcess): Promise<AgentProcess> {
  await agent.kill();
  return runAgent(agent.folder);
}

describe('a task that waited when the process was killed', () => {
  it('is abandoned by default, and can no longer be released', async () => {
    const first = await runAgent(folderOf(deferring()));
    await begun(first, 't1', pay);
    const second = await restarted(first);
    const task = (await second.get('/tasks/t1')).body;
    expect([task.status.state, textOf({ body: task })]).toEqual([
      'failed',
      'defer: abandoned by service restart',
    ]);
    expect(await second.decide('t1', { decision: 'approve' })).toMatchObject({
      status: 404,
      body: { error: 'no pending deferral for task', code: 'deferral_not_found' },
    });
    expect((await second.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
    expect(story(readAudit(second.auditPath, 't1')).slice(-2)).toEqual([
      ['task_deferred_abandoned', { tool: 'pay', reason: 'service_restart' }],
      ['session_end', { state: 'failed' }],
    ]);
    expect(second.folder.paid).toEqual([]);
    const third = await restarted(second);
    expect((await third.get('/tasks/t1')).body).toEqual(task);
    await expectIntact(third.auditPath);
  });

  it('keeps waiting when it is resumed, and runs once when it is released', async () => {
    const first = await runAgent(folderOf(deferring({}, { on_restart: 'resume' })));
    await begun(first, 't1', pay);
    const before = (await first.get('/tasks/t1')).body;
    const second = await restarted(first);
    expect((await second.get('/tasks/t1')).body).toEqual(before);
    expect((await second.get('/deferrals')).body.deferrals).toHaveLength(1);
    const third = await restarted(second);
    const stream = await third.stream('/tasks/t1/events');
    await stream.untilState('deferred');
    expect((await third.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect((await stream.rest()).at(-1)?.data.status.state).toBe('completed');
    expect(textOf(await third.get('/tasks/t1'))).toBe('paid {"amount":5}');
    expect(third.folder.paid).toEqual([before.metadata.deferral.id]);
    expect((await third.decide('t1', { decision: 'reject' })).status).toBe(409);
    expect(readAudit(third.auditPath, 't1').map(({ event, seq }) => [seq, event])).toEqual([
      [1, 'session_start'],
      [2, 'llm_call'],
      [3, 'call_ruled'],
      [4, 'task_deferred'],
      [5, 'task_deferred_decision'],
      [6, 'tool_exec'],
      [7, 'tool_exec'],
      [8, 'llm_call'],
      [9, 'session_end'],
    ]);
    await expectIntact(third.auditPath);
  });

  it('is denied at once when its time has run out', async () => {
    const rule = { timeout: '1500ms' };
    const first = await runAgent(folderOf(deferring(rule, { on_restart: 'resume' })));
    await begun(first, 't1', pay);
    const { expires_at } = (await first.get('/tasks/t1')).body.metadata.deferral;
    await first.kill();
    await vi.waitUntil(() => Date.now() > Date.parse(expires_at), { timeout: 5_000, interval: 20 });
    const second = await runAgent(first.folder);
    const task = await reached(second, 't1', 'failed');
    expect(textOf({ body: task })).toBe('defer: no decision within 1.5s (auto-deny)');
    expect((await second.decide('t1', { decision: 'approve' })).status).toBe(404);
    expect(second.folder.paid).toEqual([]);
    const [timeout, end] = readAudit(second.auditPath, 't1').slice(4);
    expect(timeout).toMatchObject({ event: 'task_deferred_timeout', fields: { timeout_ms: 1500 } });
    expect(timeout?.fields?.['wait_ms']).toBeGreaterThanOrEqual(1500);
    expect(end).toMatchObject({ event: 'session_end', fields: { state: 'failed' } });
    await expectIntact(second.auditPath);
  });

  it('keeps the approvals of its quorum', async () => {
    const rule = { quorum: 2, approvers: ['ann@example.com', 'bo@example.com'] };
    const first = await runAgent(folderOf(deferring(rule, { on_restart: 'resume' })));
    await begun(first, 't1', pay);
    const approve = (name: string) => ({
      decision: 'approve',
      approver_email: `${name}@example.com`,
    });
    expect((await first.decide('t1', approve('ann'))).body.status).toBe('recorded');
    const second = await restarted(first);
    expect((await second.decide('t1', approve('ann'))).body.status).toBe('recorded');
    expect((await second.decide('t1', approve('bo'))).body.status).toBe('resolved');
    await reached(second, 't1', 'completed');
  });
});

describe('a tool that ran when the process was killed', () => {
  const interrupted = 'interrupted by service restart';
  const unknown = `${interrupted}: hold had started and its outcome is unknown`;

  it.each([
    ['abandon', interrupted],
    ['resume', unknown],
  ])('does not run again under %s, and its start has an end', async (on_restart, text) => {
    const first = await runAgent(folderOf(deferring({}, { on_restart })));
    await begun(first, 't1', hold);
    const second = await restarted(first);
    expect(textOf({ body: await reached(second, 't1', 'failed') })).toBe(text);
    expect(second.folder.held).toHaveLength(1);
    expect(story(readAudit(second.auditPath, 't1')).slice(-3)).toEqual([
      ['tool_exec', { tool: 'hold', phase: 'start' }],
      ['tool_exec', { tool: 'hold', phase: 'end', outcome: 'unknown', error: text }],
      ['session_end', { state: 'failed' }],
    ]);
    await expectIntact(second.auditPath);
  });

  it('runs again under the same call id when it is idempotent', async () => {
    const settings = deferring({}, { on_restart: 'resume' });
    const tools = [{ name: 'hold', idempotent: true }];
    const first = await runAgent(folderOf({ ...settings, tools }));
    await begun(first, 't1', hold);
    const second = await restarted(first);
    await vi.waitFor(() => expect(second.folder.held).toHaveLength(2), 10_000);
    await second.folder.openGate('kept');
    expect(textOf({ body: await reached(second, 't1', 'completed') })).toBe('got kept');
    const [one, other] = second.folder.held;
    expect(one).toBe(other);
    await expectIntact(second.auditPath);
  });

  it('does not run again where its code or arguments changed, or where it is denied now', async () => {
    const held = { hold: { to: 'channel:console:desk' } };
    const security = { defer: { enabled: true, on_restart: 'resume', tools: held } };
    const guardrails = { enabled: true, denied_tools: ['hold'] };
    const changes: ((folder: AgentFolder) => void)[] = [
      ({ path }) => writeFileSync(join(path, 'scripts', 'hold.sh'), 'echo other'),
      ({ path }) => {
        const file = join(path, 'service.yaml');
        const service = JSON.parse(readFileSync(file, 'utf8'));
        writeFileSync(file, JSON.stringify({ ...service, security: { ...security, guardrails } }));
      },
    ];
    for (const change of changes) {
      const tools = [{ name: 'hold', idempotent: true }];
      const first = await runAgent(folderOf({ security, tools }));
      first.send('t1', hold).catch(() => undefined);
      await reached(first, 't1', 'deferred');
      expect((await first.decide('t1', { decision: 'approve' })).status).toBe(200);
      await vi.waitFor(() => expect(first.folder.held).toHaveLength(1), 10_000);
      await first.kill();
      change(first.folder);
      const second = await runAgent(first.folder);
      expect(textOf({ body: await reached(second, 't1', 'failed') })).toBe(unknown);
      expect(second.folder.held).toHaveLength(1);
    }
  });

  it('does not run again where the current policy would make another call of it', async () => {
    const settings = deferring({}, { on_restart: 'resume' });
    const tools = [{ name: 'hold', idempotent: true }];
    const first = await runAgent(folderOf({ ...settings, tools }));
    await begun(first, 't1', hold);
    await first.kill();
    const file = join(first.folder.path, 'service.yaml');
    const service = JSON.parse(readFileSync(file, 'utf8'));
    const rules = { hold: { arguments: [{ path: 'limit', set: 10 }] } };
    const security = { ...service.security, modify: { enabled: true, tools: rules } };
    writeFileSync(file, JSON.stringify({ ...service, security }));
    const second = await runAgent(first.folder);
    expect(textOf({ body: await reached(second, 't1', 'failed') })).toBe(unknown);
    expect(second.folder.held).toHaveLength(1);
  });

  it('is as unknown after a release as without one', async () => {
    const settings = {
      security: {
        defer: {
          enabled: true,
          on_restart: 'resume',
          tools: { hold: { to: 'channel:console:desk' } },
        },
      },
    };
    const first = await runAgent(folderOf(settings));
    const held = first.send('t1', hold).catch((error: unknown) => error);
    await reached(first, 't1', 'deferred');
    expect((await first.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    await vi.waitFor(() => expect(first.folder.held).toHaveLength(1), 10_000);
    const second = await restarted(first);
    expect(await held).toBeInstanceOf(Error);
    expect(textOf({ body: await reached(second, 't1', 'failed') })).toBe(unknown);
    expect((await second.decide('t1', { decision: 'approve' })).body).toMatchObject({
      error: 'deferral already decided',
      code: 'already_decided',
      approver: 'ann',
    });
  });
});

describe('a decision that was answered with 200', () => {
  it.each(['approve', 'reject'])('%s survives a kill that follows at once', async (decision) => {
    const first = await runAgent(folderOf(deferring({}, { on_restart: 'resume' })));
    await begun(first, 't1', pay);
    const answer = await first.decide('t1', { decision, approver: 'ann' });
    const second = await restarted(first);
    expect(answer.status).toBe(200);
    expect(await second.decide('t1', { decision: 'approve', approver: 'bo' })).toMatchObject({
      status: 409,
      body: { decision, approver: 'ann' },
    });
    const decisions = readAudit(second.auditPath, 't1').filter(
      ({ event }) => event === 'task_deferred_decision',
    );
    expect(decisions).toMatchObject([{ fields: { decision, approver: 'ann' } }]);
    await expectIntact(second.auditPath);
  });
});
