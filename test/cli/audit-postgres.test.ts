import { hash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Zip from 'jszip';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { commandsOver } from '../helpers/shared-folder.ts';
import { launchAgent, startInFolder } from '../helpers/test-agent.ts';
import type { Ended } from './holdpoint.ts';
import { cleanUp, startCommand } from './holdpoint.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;
let database: string;
let folder: AgentFolder;
let run: (...args: string[]) => Promise<Ended>;

beforeAll(async () => {
  server = await PostgresServer.start();
  database = await server.createDatabase();
  folder = new AgentFolder({ store: { kind: 'postgres' } });
  run = commandsOver(server.url(database));
  const env = { SERVICE_DATABASE_URL: server.url(database) };
  const agent = await launchAgent({}, { folder, env });
  await agent.send('t-1', [{ say: 'one' }]);
  await agent.send('t-2', [{ say: 'two' }]);
  await agent.stop();
});
afterAll(async () => {
  folder.remove();
  await cleanUp();
  await server.remove();
});

/** Runs a test over a log that is changed, and puts it back. */
async function changed(sql: string, test: () => Promise<void>): Promise<void> {
  const statements = `BEGIN; CREATE TABLE kept AS SELECT * FROM holdpoint.audit_lines; ${sql}; COMMIT`;
  await server.query(statements, [], database);
  try {
    await test();
  } finally {
    await server.query(
      'BEGIN; TRUNCATE holdpoint.audit_lines; INSERT INTO holdpoint.audit_lines SELECT * FROM kept; DROP TABLE kept; COMMIT',
      [],
      database,
    );
  }
}

async function lines(): Promise<string[]> {
  const rows = await server.query(
    'SELECT text FROM holdpoint.audit_lines ORDER BY line',
    [],
    database,
  );
  return rows.map(({ text }) => String(text));
}

describe('the audit commands over PostgreSQL', () => {
  it('verify the log like files', async () => {
    const count = (await lines()).length;
    expect(await run('audit', 'verify', '--dir', folder.path)).toEqual({
      code: 0,
      signal: null,
      stdout: `${count} events, chain intact, 0 signed\n`,
      stderr: '',
    });
    const signed = await run('audit', 'verify', '--dir', folder.path, '--require-signed');
    expect(signed).toMatchObject({ code: 6, stdout: '' });
    expect(signed.stderr).toMatch(
      /^error: postgres:holdpoint:1 \(policy_loaded\): sig is missing; /,
    );
  });

  it('exit with 6 for a line that was changed, removed from the middle, or cut off the end', async () => {
    const verify = () => run('audit', 'verify', '--dir', folder.path);
    const line = `UPDATE holdpoint.audit_lines SET text = replace(text, '"ts":"2', '"ts":"3')
      WHERE line = 2`;
    await changed(line, async () => {
      const found = await verify();
      expect(found.code).toBe(6);
      expect(found.stderr).toMatch(
        /^error: postgres:holdpoint:3 \(.+\): prev_hash does not match the previous line; /,
      );
    });
    await changed('DELETE FROM holdpoint.audit_lines WHERE line = 3', async () => {
      expect((await verify()).stderr).toMatch(/^error: postgres:holdpoint:3 /);
    });
    const count = (await lines()).length;
    await changed(`DELETE FROM holdpoint.audit_lines WHERE line = ${count}`, async () => {
      const found = await verify();
      expect(found.code).toBe(6);
      expect(found.stderr).toMatch(
        new RegExp(
          `^error: postgres:holdpoint:${count}: the last line is not the one that the store knows; expected \\w{64}, found \\w{64}; `,
        ),
      );
    });
    await changed('TRUNCATE holdpoint.audit_lines', async () => {
      expect((await verify()).code).toBe(6);
    });
  });

  it('show the latest events, of a task or of a name', async () => {
    const tail = ['audit', 'tail', '--dir', folder.path];
    const ofTask = await run(...tail, '--task', 't-2');
    expect(
      ofTask.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ').slice(1, 3)),
    ).toEqual([
      ['session_start', 'task=t-2'],
      ['llm_call', 'task=t-2'],
      ['session_end', 'task=t-2'],
    ]);
    const all = await lines();
    expect((await run(...tail, '-n', '3', '--json')).stdout).toBe(`${all.slice(-3).join('\n')}\n`);
    expect((await run(...tail, '-n', '999', '--json')).stdout).toBe(`${all.join('\n')}\n`);
  });

  it('show and export the events of a range of time', async () => {
    const all = await lines();
    const [from, to] = [2, 5].map((index) => String(JSON.parse(all[index]!).ts));
    const range = ['--dir', folder.path, '--from', from!, '--to', to!];
    const expected = all.filter((line) => {
      const { ts } = JSON.parse(line);
      return ts >= from! && ts <= to!;
    });
    const tail = ['audit', 'tail', ...range, '--json'];
    expect(expected.length).toBeGreaterThanOrEqual(4);
    expect((await run(...tail)).stdout).toBe(`${expected.join('\n')}\n`);
    expect((await run(...tail, '-n', '2')).stdout).toBe(`${expected.slice(-2).join('\n')}\n`);
    expect((await run('audit', 'export', ...range)).stdout).toBe(`${expected.join('\n')}\n`);
    expect((await run('audit', 'tail', '--dir', folder.path, '--to', '90d')).stdout).toBe('');
  });

  it('bundle the log, with the verdict on the whole log', async () => {
    const all = await lines();
    const target = join(folder.path, 'evidence.zip');
    const bundle = ['audit', 'bundle', '--dir', folder.path, '--task', 't-2', '-o', target];
    expect(await run(...bundle)).toMatchObject({ code: 0, stderr: '' });
    const zip = await Zip.loadAsync(await readFile(target));
    const text = async (path: string) => zip.file(path)!.async('string');
    const { agents } = JSON.parse(await text('bundle.json'));
    const [{ folder: place, runs, verdict }] = agents;
    const wanted = all.filter((line) => line.includes('"task_id":"t-2"'));
    expect(await text(`${place}/log.ndjson`)).toBe(wanted.map((line) => `${line}\n`).join(''));
    expect(runs).toEqual([[all.indexOf(wanted[0]!) + 1, wanted.length]]);
    expect(await text(`${place}/policies.ndjson`)).toBe(
      all
        .filter((line) => line.includes('"policy_loaded"'))
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(verdict).toEqual({
      ...{ ok: true, sentence: `${all.length} events, chain intact, 0 signed` },
      head: hash('sha256', all.at(-1)!, 'hex'),
    });
    await rm(target);
  });

  it('follow the log while daemons write it, also after a lost connection', async () => {
    const env = { SERVICE_DATABASE_URL: server.url(database) };
    const words = ['audit', 'tail', '-f', '-n', '1', '--event', 'session_end', '--json'];
    const following = startCommand([...words, '--dir', folder.path], { env });
    const shown: string[] = [];
    following.child.stdout?.on('data', (bytes) => shown.push(String(bytes)));
    const ends = async () =>
      (await lines()).filter((line) => line.includes('"session_end"')).map((line) => `${line}\n`);
    const [, known] = await ends();
    await vi.waitFor(() => expect(shown.join('')).toBe(known), patient);
    expect(await server.cut(database, `application_name = 'holdpoint'`)).toBe(1);
    const agent = await startInFolder(folder, env);
    await agent.send('t-3', [{ say: 'three' }]);
    await agent.stop();
    const [, , next] = await ends();
    await vi.waitFor(() => expect(shown.join('')).toBe(`${known}${next}`), patient);
    following.child.kill('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, signal: null });
  });

  it('export the lines of a task, with their proof', async () => {
    const all = await lines();
    const own = all.filter((line) => line.includes('"task_id":"t-1"'));
    const plain = ['audit', 'export', '--dir', folder.path, '--task', 't-1'];
    expect(await run(...plain)).toMatchObject({ code: 0, stdout: `${own.join('\n')}\n` });
    const proof = JSON.parse((await run(...plain, '--proof')).stdout);
    expect(proof).toMatchObject({ task_id: 't-1', count: all.length });
    expect(proof.lines[0]).toEqual({
      file: 'postgres:holdpoint',
      line_number: all.indexOf(own[0] ?? '') + 1,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      line: own[0],
    });
    const nothing = await run('audit', 'export', '--dir', folder.path, '--task', 'nobody');
    expect(nothing).toMatchObject({ code: 3, stdout: '' });
  });

  it('do not count as a daemon', async () => {
    const count = 'SELECT count(*) AS daemons FROM holdpoint.replicas';
    const before = await server.query(count, [], database);
    await run('audit', 'verify', '--dir', folder.path);
    await run('doctor', '--dir', folder.path);
    expect(await server.query(count, [], database)).toEqual(before);
  });

  it('exit with 3 for a missing log, and with 5 without its address', async () => {
    const other = new AgentFolder({ store: { kind: 'postgres', schema: 'nothing' } });
    onTestFinished(() => other.remove());
    for (const words of [['verify'], ['tail'], ['export', '--task', 't']]) {
      expect(await run('audit', ...words, '--dir', other.path)).toMatchObject({
        code: 3,
        stdout: '',
        stderr:
          'error: there is no audit log in the schema nothing; start the agent once, or correct store.schema\n',
      });
    }
    expect(await commandsOver('')('audit', 'tail', '--dir', other.path)).toMatchObject({
      code: 5,
      stderr:
        'error: SERVICE_DATABASE_URL is not set, which holds the URL of the database; set SERVICE_DATABASE_URL to postgres://USER:PASSWORD@HOST:PORT/DATABASE\n',
    });
  });

  it('verify the files of an agent on SQLite with --dir, and each file alone', async () => {
    const plain = new AgentFolder({});
    const agent = await launchAgent({}, { folder: plain });
    onTestFinished(() => agent.close());
    expect(await run('audit', 'verify', '--dir', plain.path)).toMatchObject({
      code: 0,
      stdout: '2 events, chain intact, 0 signed\n',
    });
    expect(await run('audit', 'verify', '--dir', plain.path, agent.auditPath)).toMatchObject({
      code: 2,
      stderr:
        'error: files and --dir exclude each other; name the files of one log, oldest first, or an agent with --dir\n',
    });
    expect(await run('audit', 'verify')).toMatchObject({
      code: 2,
      stderr:
        "error: missing required argument 'file'; name the files of one log, oldest first, or an agent with --dir\n",
    });
  });
});

describe('a database that cannot be used', () => {
  it.each([
    [
      'nobody there',
      (at: PostgresServer) => at.url().replace(`${at.port}`, '1'),
      'since no server listens',
    ],
    [
      'an unknown host',
      () => 'postgres://ann:hush@nowhere.invalid/agents',
      'the name of its host leads nowhere',
    ],
    ['a wrong password', (at: PostgresServer) => at.url('postgres', 'ann', 'hush'), 'refuses'],
    [
      'an unknown database',
      (at: PostgresServer) => at.url('nowhere'),
      'there is no database of the name',
    ],
  ])('is reported with one message for %s, without its address', async (_, url, sentence) => {
    const over = commandsOver(url(server));
    for (const words of [
      ['audit', 'tail'],
      ['store', 'migrate'],
    ]) {
      const { code, stdout, stderr } = await over(...words, '--dir', folder.path);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(sentence);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      expect(stderr).not.toMatch(/hush|\bann\b|127\.0\.0\.1|invalid|5432/);
    }
  });

  it('is reported for a user without rights, who may get schemas instead', async () => {
    const name = await server.createDatabase();
    await server.query("CREATE USER limited PASSWORD 'hush'", [], name);
    const over = commandsOver(server.url(name, 'limited', 'hush'));
    const { code, stderr } = await over('store', 'migrate', '--dir', folder.path);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: the user of SERVICE_DATABASE_URL lacks rights on the schema holdpoint; let that user create schemas in the database, or make it the owner of holdpoint and holdpoint_jobs\n',
    );
    await server.query(
      'CREATE SCHEMA holdpoint AUTHORIZATION limited; CREATE SCHEMA holdpoint_jobs AUTHORIZATION limited',
      [],
      name,
    );
    expect(await over('store', 'migrate', '--dir', folder.path)).toMatchObject({ code: 0 });
    await server.query("CREATE USER stranger PASSWORD 'hush'", [], name);
    const stranger = commandsOver(server.url(name, 'stranger', 'hush'));
    expect((await stranger('audit', 'tail', '--dir', folder.path)).stderr).toContain(
      'lacks rights',
    );
  });
});
