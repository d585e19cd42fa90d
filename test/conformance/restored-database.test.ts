import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verifyFiles } from '../../src/actors/records/log/audit.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type PostgresServer, sharedPostgres } from '../helpers/postgres-server.ts';
import { deferring, launchAgent, type TestAgent } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

let server: PostgresServer;
let database: string;
let folder: AgentFolder;

beforeEach(async () => {
  server = await sharedPostgres();
  database = await server.createDatabase();
  onTestFinished(() => server.dropDatabase(database));
  const settings = deferring({}, { on_restart: 'resume' });
  folder = new AgentFolder({ ...settings, store: { kind: 'postgres' } });
  onTestFinished(() => folder.remove());
});

async function start(): Promise<TestAgent> {
  const env = { SERVICE_DATABASE_URL: server.url(database) };
  const agent = await launchAgent({}, { folder, env });
  onTestFinished(() => agent.stop());
  return agent;
}

const state = (): string => join(folder.path, '.service');
const copy = (name = 'audit.ndjson'): string => readFileSync(join(state(), name), 'utf8');

async function committed(): Promise<string> {
  const sql = 'SELECT text FROM holdpoint.audit_lines ORDER BY line';
  const rows = await server.query(sql, [], database);
  return rows.map(({ text }) => `${String(text)}\n`).join('');
}

/** Has an agent hold a call, keeps a backup, and releases the call; what comes back puts the database back to that time. */
async function releasedSinceBackup(): Promise<() => Promise<void>> {
  const first = await start();
  const left = first.send('t1', pay);
  await first.reached('t1', 'deferred');
  await first.stop();
  await left;
  const backup = `${database}_backup`;
  await server.query(`CREATE DATABASE ${backup} TEMPLATE ${database}`);
  onTestFinished(() => server.dropDatabase(backup));
  const second = await start();
  expect((await second.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
  await second.reached('t1', 'completed');
  await second.stop();
  return async () => {
    await server.dropDatabase(database);
    await server.query(`CREATE DATABASE ${database} TEMPLATE ${backup}`);
  };
}

/** Expects the lines that the database does not know to be in a file of their own, and the daemon to have said so. */
async function expectAside(agent: TestAgent, before: string): Promise<void> {
  await agent.stop();
  const [aside = '', ...others] = readdirSync(state()).filter((name) => name.includes('.before-'));
  expect([copy(aside), others]).toEqual([before, []]);
  expect(copy()).toBe(await committed());
  expect(await verifyFiles([join(state(), 'audit.ndjson')])).toMatchObject({ ok: true });
  expect(agent.log.filter(({ level }) => level === 'error')).toEqual([
    {
      level: 'error',
      fields: { file: join(state(), aside), lines: before.split('\n').length - 1 },
      message:
        'audit: the file held another log than the database, which may be older; it was moved aside, so compare the two',
    },
  ]);
}

describe('a database that was restored to an earlier time', () => {
  it('continues from there, and the daemon names the file with the lost lines', async () => {
    const restore = await releasedSinceBackup();
    const before = copy();
    expect(before).toBe(await committed());
    await restore();
    const agent = await start();
    const waiting = (await agent.get('/deferrals')).body.deferrals as { task_id: string }[];
    expect(waiting.map(({ task_id }) => task_id)).toEqual(['t1']);
    await agent.send('t2', [{ say: 'hi' }]);
    await expectAside(agent, before);
    expect(before).toContain('"event":"task_deferred_decision"');
  });
});

describe('a database that was lost', () => {
  it('starts again, and the daemon names the file with the old log', async () => {
    await releasedSinceBackup();
    const before = copy();
    await server.dropDatabase(database);
    await server.query(`CREATE DATABASE ${database}`);
    const agent = await start();
    expect((await agent.get('/tasks')).body).toEqual({ tasks: [] });
    await agent.send('t2', [{ say: 'hi' }]);
    await expectAside(agent, before);
  });
});
