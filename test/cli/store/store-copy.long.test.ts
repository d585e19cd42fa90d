import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { knownVersion, tablesIdentity } from '../../../src/actors/records/postgres/known-schema.ts';
import { logFilesOf } from '../../../src/actors/records/records.ts';
import { schemaSteps } from '../../../src/actors/records/sqlite/store-schema.ts';
import { AgentFolder, type ServiceSettings } from '../../helpers/agent-folder.ts';
import { patient } from '../../helpers/patient.ts';
import { PostgresServer } from '../../helpers/postgres-server.ts';
import { commandsOver, moveToPostgres } from '../../helpers/shared-folder.ts';
import { deferring, launchAgent, startInFolder, type TestAgent } from '../../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const paying = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const resuming = deferring({}, { on_restart: 'resume' });

/** The folder of an agent on SQLite that was stopped while `order-1` waited and after `greeting` had ended. */
async function stoppedAgent(settings: ServiceSettings & { agent_id?: string } = resuming) {
  const folder = new AgentFolder(settings);
  onTestFinished(() => folder.remove());
  const agent = await launchAgent({}, { folder });
  await agent.send('greeting', [{ say: 'hello' }]);
  void agent.send('order-1', paying).catch(() => undefined);
  await agent.reached('order-1', 'deferred');
  await agent.stop();
  return folder;
}

/** An empty database, with what a copy of an agent into it is asked with. */
async function target() {
  const database = await server.createDatabase();
  const url = server.url(database);
  const run = commandsOver(url);
  const copy = (folder: AgentFolder, ...more: string[]) =>
    run('store', 'copy', '--dir', folder.path, '--from', storeOf(folder), ...more);
  return { database, url, run, copy };
}

function storeOf(folder: AgentFolder): string {
  return join(folder.path, '.service', 'tasks.db');
}

function logOf(folder: AgentFolder): string {
  return join(folder.path, '.service', 'audit.ndjson');
}

/** What the store on SQLite holds. */
function sqliteRows(folder: AgentFolder, sql: string) {
  const database = new DatabaseSync(storeOf(folder), { readOnly: true });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

const tasks = `SELECT id, state, machine_version, task, snapshot, contents,
  approvers, context_id FROM tasks ORDER BY position`;
const notices = `SELECT task_id, target, asked, ended, version, told, ref FROM approval_notices ORDER BY position`;

describe('store copy', () => {
  it('copies every row byte for byte and every line, so that the agent and its chain continue', async () => {
    const folder = await stoppedAgent();
    const before = { tasks: sqliteRows(folder, tasks), notices: sqliteRows(folder, notices) };
    const lines = readFileSync(logOf(folder), 'utf8');
    moveToPostgres(folder);
    const { copy, run, url, database } = await target();

    const copied = await copy(folder, '--json');
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    const counted = JSON.parse(copied.stdout);
    expect(counted).toMatchObject({
      schema: 'holdpoint',
      rows: { tasks: 2, approval_notices: 1, machine_releases: 1 },
      jobs: { working: 0, waiting: 1 },
      lines: lines.trimEnd().split('\n').length,
    });
    const stand = (sql: string) =>
      server.query(sql.replace('FROM ', 'FROM holdpoint.'), [], database);
    expect(await stand(tasks)).toEqual(before.tasks);
    expect(await stand(notices)).toEqual(before.notices);
    const stored = await server.query(
      'SELECT text FROM holdpoint.audit_lines ORDER BY line',
      [],
      database,
    );
    expect(stored.map(({ text }) => `${String(text)}\n`).join('')).toBe(lines);
    expect(await run('audit', 'verify', '--dir', folder.path)).toMatchObject({
      code: 0,
      stdout: `${counted.lines} events, chain intact, 0 signed\n`,
    });

    const agent = await startInFolder(folder, { SERVICE_DATABASE_URL: url });
    expect((await agent.get('/tasks/greeting')).body.status.state).toBe('completed');
    const decided = await agent.decide('order-1', { decision: 'approve', approver: 'ann' });
    expect(decided.status).toBe(200);
    await agent.reached('order-1', 'completed');
    expect(folder.paid.length).toBe(1);
    const listed = (await agent.get('/tasks')).body.tasks.map(({ id }: { id: string }) => id);
    expect(listed).toEqual(['order-1', 'greeting']);
    await agent.stop();
    expect(await run('audit', 'verify', '--dir', folder.path)).toMatchObject({ code: 0 });
    await server.dropDatabase(database);
  });

  it('ends the wait of a copied task in time', async () => {
    const folder = await stoppedAgent(deferring({ timeout: '3s' }, { on_restart: 'resume' }));
    moveToPostgres(folder);
    const { copy, url } = await target();
    expect(await copy(folder)).toMatchObject({ code: 0 });
    const agent = await startInFolder(folder, { SERVICE_DATABASE_URL: url });
    const { status } = await agent.reached('order-1', 'failed');
    expect(status.message.parts[0].text).toBe('defer: no decision within 3s (auto-deny)');
    await agent.stop();
  });

  it('copies a log of several files whose oldest were removed, with all other data', async () => {
    const rotation = { max_bytes: 65_536, keep: 1 };
    const folder = new AgentFolder({ audit: { rotation } });
    onTestFinished(() => folder.remove());
    const first = await launchAgent({}, { folder });
    for (let task = 0; task < 150; task += 1) await first.send(`t-${task}`, [{ say: 'hello' }]);
    await first.stop();
    const store = new DatabaseSync(storeOf(folder));
    store.exec(`
      INSERT INTO push_targets VALUES ('t-1', 'p', 3, 1, '{"a": 1}');
      INSERT INTO conversation_turns VALUES (7, 'slack', 'm1', 5, '{"b":  2}');
      INSERT INTO channel_names VALUES ('slack', '#ops', 'C1');
      INSERT INTO acs_sessions VALUES ('s', 2, 6, '{"c": 3}');
      INSERT INTO acs_used VALUES ('s', 'r');
      INSERT INTO acs_calls VALUES ('s', 'r', 'k');
      INSERT INTO sent_messages VALUES ('k', 't-1');
      INSERT INTO task_approvers SELECT 'ann@example.com', position FROM tasks WHERE id = 't-1'`);
    store.close();
    const files = logFilesOf(logOf(folder));
    expect(files.length).toBe(2);
    const lines = files.map((path) => readFileSync(path, 'utf8')).join('');
    const before = Number(/audit-0*(\d+)/.exec(files[0] ?? '')?.[1]) - 1;
    expect(before).toBeGreaterThan(0);
    const states =
      'SELECT task_id, first, entered, states FROM task_states ORDER BY task_id, first';
    const entered = sqliteRows(folder, states);
    moveToPostgres(folder);

    const { copy, run, url, database } = await target();
    expect(await copy(folder)).toMatchObject({ code: 0 });
    const stand = (sql: string) =>
      server.query(sql.replace('FROM ', 'FROM holdpoint.'), [], database);
    expect(
      await stand(`${states.replace('ORDER BY task_id', 'ORDER BY task_id COLLATE "C"')}`),
    ).toEqual(entered);
    expect(await stand('SELECT * FROM push_targets')).toEqual([
      { task_id: 't-1', id: 'p', told: '3', is_closed: true, target: '{"a": 1}' },
    ]);
    expect(await stand('SELECT * FROM conversation_turns')).toEqual([
      { position: '7', adapter: 'slack', id: 'm1', taken_at: '5', turn: '{"b":  2}' },
    ]);
    expect(await stand('SELECT * FROM channel_names')).toEqual([
      { adapter: 'slack', name: '#ops', id: 'C1' },
    ]);
    expect(await stand('SELECT * FROM acs_sessions')).toEqual([
      { id: 's', version: 2, changed_at: '6', session: '{"c": 3}' },
    ]);
    expect(await stand('SELECT * FROM acs_used')).toEqual([{ session_id: 's', used: 'r' }]);
    expect(await stand('SELECT * FROM acs_calls')).toEqual([
      { session_id: 's', call: 'r', key: 'k' },
    ]);
    expect(await stand('SELECT * FROM task_approvers')).toEqual([
      { email: 'ann@example.com', task_id: 't-1' },
    ]);
    expect(await stand('SELECT * FROM sent_messages')).toContainEqual({ key: 'k', task_id: 't-1' });
    const text = async () =>
      (await stand('SELECT text FROM audit_lines ORDER BY line'))
        .map((row) => `${String(row['text'])}\n`)
        .join('');
    expect(await text()).toBe(lines);
    expect(await stand('SELECT min(line) - 1 AS before FROM audit_lines')).toEqual([
      { before: String(before) },
    ]);

    const agent = await startInFolder(folder, { SERVICE_DATABASE_URL: url });
    await agent.send('after', [{ say: 'hello' }]);
    // The file continues where it was, with the lines of the database.
    await vi.waitFor(async () => {
      const kept = logFilesOf(logOf(folder)).map((path) => readFileSync(path, 'utf8'));
      expect(kept.join('')).toBe(await text());
    }, patient);
    await agent.stop();
    const head = (JSON.parse(lines.split('\n')[0] ?? '') as { prev_hash: string }).prev_hash;
    expect(
      await run('audit', 'verify', '--dir', folder.path, '--continued-from', head),
    ).toMatchObject({ code: 0 });
    expect((await run('doctor', '--dir', folder.path)).stdout).toContain(
      `chain intact, 0 signed; the ${before} before them were removed`,
    );
  });

  it('releases a task that was running when its daemon was killed', async () => {
    const folder = await killedAgent();
    moveToPostgres(folder);
    const { copy, url } = await target();
    const copied = await copy(folder, '--json');
    expect(copied).toMatchObject({ code: 0 });
    expect(JSON.parse(copied.stdout).jobs).toEqual({ working: 1, waiting: 0 });
    const agent = await startInFolder(folder, { SERVICE_DATABASE_URL: url });
    const { status } = await vi.waitFor(
      async () => {
        const { body } = await agent.get('/tasks/long');
        expect(['completed', 'failed']).toContain(body.status.state);
        return body;
      },
      { timeout: 20_000, interval: 20 },
    );
    expect(status.state).toBe('failed');
    await agent.stop();
  });

  it('refuses a schema that is not empty, and does not change it', async () => {
    const folder = await stoppedAgent();
    moveToPostgres(folder);
    const { copy, database } = await target();
    expect(await copy(folder)).toMatchObject({ code: 0 });
    const count = 'SELECT count(*) AS lines FROM holdpoint.audit_lines';
    const before = await server.query(count, [], database);
    expect(await copy(folder)).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr:
        'error: the schema holdpoint is not empty; set store.schema to a new name, or drop holdpoint and holdpoint_jobs when nothing in them is needed\n',
    });
    expect(await server.query(count, [], database)).toEqual(before);
  });

  it('refuses a broken chain, another agent, another version and a running agent, and copies nothing', async () => {
    const folder = await stoppedAgent();
    moveToPostgres(folder);
    const { copy, database, url } = await target();
    const nothing = async () =>
      server.query("SELECT to_regclass('holdpoint.audit_lines') IS NULL AS nothing", [], database);

    const lines = readFileSync(logOf(folder), 'utf8');
    writeFileSync(logOf(folder), lines.replace('"task_id":"greeting"', '"task_id":"gruesses"'));
    const broken = await copy(folder);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(
      /^error: \S+audit\.ndjson:\d+ \(.+\): prev_hash does not match the previous line; .+; nothing was copied, so restore the log from a copy\n$/,
    );
    writeFileSync(logOf(folder), lines);

    const service = join(folder.path, 'service.yaml');
    const own = readFileSync(service, 'utf8');
    writeFileSync(service, own.replace('"till"', '"counter"'));
    expect((await copy(folder)).stderr).toBe(
      `error: ${logOf(folder)} is the log of agent till, not of counter; name the files of counter, or correct agent_id\n`,
    );
    writeFileSync(service, own);

    const other = new DatabaseSync(storeOf(folder));
    other.exec('PRAGMA user_version = 99');
    other.close();
    expect(await copy(folder)).toMatchObject({
      code: 1,
      stderr: `error: ${storeOf(folder)} has store version 99, this version reads ${schemaSteps.length}; copy it with the version that wrote it\n`,
    });
    expect(
      await copy({ path: folder.path } as AgentFolder, '--from', '/nowhere/tasks.db'),
    ).toMatchObject({
      code: 3,
      stderr: 'error: there is no task store /nowhere/tasks.db; name its file with --from\n',
    });
    expect(await nothing()).toEqual([{ nothing: true }]);

    const again = new DatabaseSync(storeOf(folder));
    again.exec(`PRAGMA user_version = ${schemaSteps.length}`);
    again.close();
    const running: TestAgent = await launchAgent(
      {},
      { folder, env: { SERVICE_DATABASE_URL: url } },
    );
    expect((await copy(folder)).stderr).toContain('another daemon already serves');
    await running.stop();
  });
});

describe('store migrate', () => {
  it('creates the tables of an agent and of its job engine, and prints their earlier versions', async () => {
    const folder = new AgentFolder({ store: { kind: 'postgres' } });
    onTestFinished(() => folder.remove());
    const { run, database } = await target();
    const first = await run('store', 'migrate', '--dir', folder.path);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      new RegExp(
        `^tables of holdpoint: version ${knownVersion}, before none\\ntables of its job engine, holdpoint_jobs: version \\d+, before none\\n$`,
      ),
    );
    const again = await run('store', 'migrate', '--dir', folder.path, '--json');
    const { jobs } = JSON.parse(again.stdout);
    expect(JSON.parse(again.stdout)).toEqual({
      schema: 'holdpoint',
      tables: { before: knownVersion, after: knownVersion },
      jobs: { before: jobs.after, after: jobs.after },
    });
    const later = knownVersion + 1;
    const identity = tablesIdentity.replace(`'tasks'`, `'holdpoint.tasks'`);
    const set = `UPDATE holdpoint.store_info SET tables = ${identity}`;
    await server.query(`${set}, version = ${later}`, [], database);
    const usable = await run('store', 'migrate', '--dir', folder.path, '--json');
    expect(JSON.parse(usable.stdout)).toMatchObject({ tables: { before: later, after: later } });
    await server.query(`${set}, oldest_reader = ${later}`, [], database);
    expect(await run('store', 'migrate', '--dir', folder.path)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `error: the schema holdpoint has store version ${later}, this version reads ${knownVersion}; start the version that wrote it, or set store.schema to a new name\n`,
    });
    await server.query(
      "UPDATE holdpoint.store_info SET version = 2, oldest_reader = 2, agent_id = 'other'",
      [],
      database,
    );
    expect((await run('store', 'migrate', '--dir', folder.path)).stderr).toBe(
      'error: the schema holdpoint holds the tasks of agent other, not of till; set store.schema to another name\n',
    );
  });

  it('works only for a store in PostgreSQL', async () => {
    const folder = new AgentFolder({});
    onTestFinished(() => folder.remove());
    const { run } = await target();
    expect(await run('store', 'migrate', '--dir', folder.path)).toMatchObject({
      code: 5,
      stderr: `error: store.kind of ${folder.path} is sqlite; write store: {kind: postgres} in service.yaml\n`,
    });
  });
});

/** The folder of an agent while `long` runs a tool. */
async function killedAgent(): Promise<AgentFolder> {
  const folder = new AgentFolder(resuming);
  const copy = new AgentFolder(resuming);
  onTestFinished(() => {
    folder.remove();
    copy.remove();
  });
  const agent = await launchAgent({}, { folder });
  void agent.send('long', [{ tool: 'hold' }, { say: 'never' }]).catch(() => undefined);
  await vi.waitFor(() => expect(folder.held.length).toBe(1), { timeout: 20_000, interval: 20 });
  const isState = (path: string): boolean => !/serve\.json|token|lock/.test(path);
  cpSync(join(folder.path, '.service'), join(copy.path, '.service'), {
    recursive: true,
    filter: isState,
  });
  await agent.close();
  return copy;
}
