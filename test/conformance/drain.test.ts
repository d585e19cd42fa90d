import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { saying } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { runAgent } from '../helpers/agent-process.ts';
import { deferring, expectIntact, reached, readAudit, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

const pay = [{ tool: 'pay', args: {} }, { say: 'paid' }];

function folderOf(on_restart: 'abandon' | 'resume'): AgentFolder {
  const folder = new AgentFolder(deferring({}, { on_restart }));
  onTestFinished(() => folder.remove());
  return folder;
}

describe('an agent that is stopped', () => {
  it.each([
    ['abandon', 'failed', 'defer: abandoned by service restart'],
    ['resume', 'deferred', 'Deferred: awaiting channel:console:desk decision on pay'],
  ] as const)(
    'disconnects waiting callers, and exits; under %s the task is %s',
    async (mode, state, text) => {
      const agent = await runAgent(folderOf(mode));
      const waiting = agent.send('t1', pay);
      const overRpc = agent.rpc('tasks/send', {
        id: 't2',
        message: { parts: [{ kind: 'data', data: { script: pay } }] },
      });
      await reached(agent, 't1', 'deferred');
      await reached(agent, 't2', 'deferred');
      const stream = await agent.stream('/tasks/t1/events');
      await stream.untilState('deferred');
      agent.signal('SIGTERM');
      for (const [held, task_id] of [
        [waiting, 't1'],
        [overRpc, 't2'],
      ] as const) {
        expect(await held).toMatchObject({
          status: 503,
          body: { error: 'service is shutting down', code: 'shutting_down', task_id },
        });
      }
      expect(await stream.rest()).toEqual([]);
      expect(await agent.ended()).toBe(0);
      expect(existsSync(join(agent.folder.path, '.service/serve.json'))).toBe(false);
      const again = await runAgent(agent.folder);
      const task = await reached(again, 't1', state);
      expect(textOf({ body: task })).toBe(text);
      await expectIntact(again.auditPath);
    },
  );

  it('accepts no new work while a tool may finish', async () => {
    const agent = await runAgent(folderOf('abandon'));
    const working = agent.send('t1', [{ tool: 'hold' }, { say: 'got {result}' }]);
    await vi.waitFor(() => expect(agent.folder.held).toHaveLength(1), 10_000);
    agent.signal('SIGTERM');
    await vi.waitFor(async () => expect((await agent.get('/readyz')).status).toBe(503), 10_000);
    expect((await agent.get('/healthz')).status).toBe(200);
    expect(await agent.post('/tasks/send', { message: saying('hi') })).toMatchObject({
      status: 503,
      body: { error: 'service is shutting down', code: 'shutting_down' },
    });
    expect((await agent.post('/tasks/sendSubscribe', { message: saying('hi') })).status).toBe(503);
    expect((await agent.rpc('tasks/send', { message: saying('hi') })).status).toBe(503);
    expect((await agent.get('/tasks/t1')).body.status.state).toBe('working');
    await agent.folder.openGate('it');
    expect(textOf(await working)).toBe('got it');
    expect(await agent.ended()).toBe(0);
    expect(readAudit(agent.auditPath, 't1').at(-1)).toMatchObject({
      event: 'session_end',
      fields: { state: 'completed' },
    });
    await expectIntact(agent.auditPath);
  });

  it('aborts a tool that does not finish in time', async () => {
    const agent = await runAgent(folderOf('abandon'));
    const working = agent.send('t1', [{ tool: 'hold' }, { say: 'never' }]);
    await vi.waitFor(() => expect(agent.folder.held).toHaveLength(1), 10_000);
    agent.signal('SIGTERM');
    expect(await working).toMatchObject({
      status: 503,
      body: { error: 'service is shutting down', code: 'shutting_down', task_id: 't1' },
    });
    expect(await agent.ended()).toBe(0);
    const again = await runAgent(agent.folder);
    expect(textOf({ body: await reached(again, 't1', 'failed') })).toBe(
      'interrupted by service restart',
    );
    await expectIntact(again.auditPath);
  });
});
