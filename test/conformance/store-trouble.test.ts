import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { runAgent } from '../helpers/agent-process.ts';
import { overwritePages, pagesOf } from '../helpers/damaged-file.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import { changeTables } from '../helpers/kept-tables.ts';
import {
  deferring,
  launchAgent,
  reached,
  startTestAgent,
  type TestAgent,
} from '../helpers/test-agent.ts';
import { temporaryFolder } from '../helpers/test-system.ts';

vi.setConfig({ testTimeout: 60_000 });

function folderOf(settings: ServiceSettings): AgentFolder {
  const folder = new AgentFolder(settings);
  onTestFinished(() => folder.remove());
  return folder;
}

const storeOf = ({ folder }: TestAgent): string => join(folder.path, '.service/tasks.db');

/** Has the daemon read its file again, pages that are overwritten in the middle of it included. */
function damageInUse(path: string): void {
  const other = new DatabaseSync(path);
  other.exec("UPDATE tasks SET started_call = NULL WHERE id = 't0'; PRAGMA wal_checkpoint");
  other.close();
  overwritePages(path, Math.floor(pagesOf(path) / 2), 10);
}

async function withTasks(settings: ServiceSettings = deferring()): Promise<TestAgent> {
  const agent = await startTestAgent(settings);
  for (let index = 0; index < 60; index += 1) {
    await agent.send(`t${index}`, [{ say: 'x'.repeat(4_000) }]);
  }
  return agent;
}

describe('files that two daemons would share', () => {
  // Several daemons may share a PostgreSQL, and none its folder.
  it.each(isOverPostgres ? (['audit'] as const) : (['store', 'audit'] as const))(
    'are refused to the second, which names the first, and the first continues: %s.path',
    async (shared) => {
      const place = temporaryFolder();
      mkdirSync(join(place, 'real'));
      symlinkSync('real', join(place, 'way'));
      const settings = (name: string, own: string) => ({
        ...deferring(),
        store: { path: join(place, shared === 'store' ? name : own, 'tasks.db') },
        audit: { path: join(place, shared === 'audit' ? name : own, 'audit.ndjson') },
      });
      const first = await startTestAgent(settings('real', 'one'));
      const held = first.send('t1', [{ tool: 'pay', args: {} }, { say: 'paid' }]);
      await first.reached('t1', 'deferred');
      const file = join(place, 'real', shared === 'store' ? 'tasks.db' : 'audit.ndjson');
      await expect(runAgent(folderOf(settings('way', 'two')))).rejects.toThrow(
        `${file} is in use by process ${process.pid}, agent till in ${first.folder.path}; stop it first, or set ${shared}.path to another file`,
      );
      expect((await first.decide('t1', { decision: 'approve' })).status).toBe(200);
      expect((await held).body.status.state).toBe('completed');
    },
  );

  it('are released when a process is killed', async () => {
    const folder = folderOf(deferring());
    await (await runAgent(folder)).kill();
    const again = await runAgent(folder);
    expect((await again.get('/readyz')).status).toBe(200);
  });
});

// PostgreSQL looks after its own pages.
describe.skipIf(isOverPostgres)('a damaged store file', () => {
  it('stops the start, with a message that names the file', async () => {
    const agent = await launchAgent(deferring());
    for (let index = 0; index < 30; index += 1) await agent.send(`t${index}`, [{ say: 'x' }]);
    const path = storeOf(agent);
    const { folder } = agent;
    onTestFinished(() => folder.remove());
    await agent.stop();
    overwritePages(path, 2, 1);
    const refusal = expect.stringMatching(
      /tasks\.db is damaged \(.*\); stop the agent and restore the file from a backup, or move it away to start without its tasks\n$/,
    );
    await expect(runAgent(folder)).rejects.toEqual(expect.objectContaining({ message: refusal }));
  });

  it('is not ready once the damage is found, and accepts neither work nor decisions', async () => {
    const agent = await withTasks();
    const held = agent.send('held', [{ tool: 'pay', args: {} }]).catch(() => undefined);
    await agent.reached('held', 'deferred');
    expect((await agent.get('/readyz')).status).toBe(200);
    damageInUse(storeOf(agent));
    await agent.get('/tasks?limit=500&include=artifacts');
    const { status, body } = await agent.get('/readyz');
    expect([status, body]).toEqual([
      503,
      {
        error: 'the service is starting, shutting down, or cannot record anything',
        code: 'not_ready',
      },
    ]);
    expect((await agent.send('new', [{ say: 'x' }])).status).toBe(503);
    expect((await agent.decide('held', { decision: 'approve' })).status).toBe(503);
    expect(agent.folder.paid).toEqual([]);
    expect(agent.log.filter(({ message }) => message.startsWith('store: '))).toEqual([
      {
        level: 'error',
        fields: {},
        message: `store: ${storeOf(agent)} is damaged (database disk image is malformed); stop the agent and restore the file from a backup, or move it away to start without its tasks`,
      },
    ]);
    await agent.stop();
    await held;
  });
});

describe('a damaged store', () => {
  it('with one row that is not JSON loses only that task', async () => {
    const folder = folderOf(deferring({}, { on_restart: 'resume' }));
    const first = await runAgent(folder);
    for (const id of ['t1', 't2'])
      first.send(id, [{ tool: 'pay', args: {} }]).catch(() => undefined);
    for (const id of ['t1', 't2']) await reached(first, id, 'deferred');
    await first.kill();
    changeTables(folder.path, "UPDATE tasks SET task = 'no JSON' WHERE id = 't1'");
    const second = await runAgent(folder);
    expect((await second.get('/tasks/t1')).body.status).toMatchObject({
      state: 'failed',
      message: { parts: [{ text: expect.stringContaining('damaged') }] },
    });
    expect((await second.decide('t1', { decision: 'approve' })).status).toBe(404);
    expect((await second.decide('t2', { decision: 'approve' })).status).toBe(200);
  });
});
