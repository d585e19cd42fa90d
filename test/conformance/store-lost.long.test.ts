import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { runAgent } from '../helpers/agent-process.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import { deferring, expectIntact, launchAgent, reached, readAudit } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

const remove =
  (...names: string[]) =>
  (state: string) => {
    for (const name of names) rmSync(join(state, name));
  };

// In PostgreSQL the log is lost with its store, of which restored-database.test.ts is.
it.skipIf(isOverPostgres).each<[string, (state: string) => void]>([
  ['its file removed and its WAL kept', remove('tasks.db')],
  ['all its files removed', remove('tasks.db', 'tasks.db-wal', 'tasks.db-shm')],
  ['its file emptied', (state) => truncateSync(join(state, 'tasks.db'))],
])(
  'a store with %s is reported as lost, and its waiting calls are abandoned',
  async (_name, lose) => {
    const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
    onTestFinished(() => folder.remove());
    const first = await runAgent(folder);
    for (const id of ['t1', 't2']) {
      first.send(id, pay).catch(() => undefined);
      await reached(first, id, 'deferred');
    }
    await first.send('t3', [{ say: 'hi' }]);
    await first.kill();
    const before = readAudit(first.auditPath);
    lose(join(folder.path, '.service'));
    const agent = await launchAgent({}, { folder });
    onTestFinished(() => agent.stop());
    const said = readAudit(agent.auditPath).slice(before.length, before.length + 3);
    expect(said).toMatchObject([
      { event: 'store_lost', fields: { waiting: 2 } },
      ...['t1', 't2'].map((id) => ({
        event: 'task_deferred_abandoned',
        task_id: id,
        seq: 5,
        fields: { tool: 'pay', reason: 'store_lost', wait_ms: expect.any(Number) },
      })),
    ]);
    expect(agent.log.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        fields: { waiting: 2 },
        message: 'audit: the task store of the log is lost; waiting calls were abandoned',
      },
    ]);
    expect((await agent.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
    expect(readAudit(agent.auditPath).slice(0, before.length)).toEqual(before);
    await expectIntact(agent.auditPath);
  },
);
