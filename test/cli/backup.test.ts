import fs, {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readBackup } from '../../src/agent/backup/read-backup.ts';
import { type BackupEntry, writeBackup } from '../../src/agent/backup/write-backup.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import {
  deferring,
  expectIntact,
  launchAgent,
  startInFolder,
  story,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';
import { holdpointHere } from './command-here.ts';

vi.setConfig({ testTimeout: 30_000 });

const paying = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const resuming = { ...deferring({}, { on_restart: 'resume' }), audit: { sign: true } };

function temporary(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-backup-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function running(settings: ServiceSettings = resuming): Promise<TestAgent> {
  const agent = await launchAgent(settings);
  onTestFinished(() => agent.close());
  return agent;
}

/** An agent whose call `order-1` waits. */
async function waiting(settings?: ServiceSettings): Promise<TestAgent> {
  const agent = await running(settings);
  void agent.send('order-1', paying).catch(() => undefined);
  await agent.reached('order-1', 'deferred');
  return agent;
}

const run = (...args: string[]) => holdpointHere([...args, '--json']);

async function backedUp({ folder }: TestAgent, into = temporary()): Promise<string> {
  const { code, stdout, stderr } = await run('backup', `${into}/`, '--dir', folder.path);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { file } = JSON.parse(stdout) as { file: string };
  cpSync(join(folder.path, '.service/audit-keys.json'), keysOf(file));
  return file;
}

/** The public keys of the agent of a backup, as its operator keeps them. */
const keysOf = (file: string): string => join(dirname(file), 'keys.json');

const restore = (file: string, ...args: string[]) =>
  run('restore', file, '--keys', keysOf(file), ...args);

/** Starts the agent of a restored folder. */
async function started(path: string): Promise<TestAgent> {
  return startInFolder({ path } as AgentFolder);
}

/** Calls that `pay` has served in a folder. */
function paidIn(path: string): string[] {
  const file = join(path, 'paid');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Reads a backup without checking its signature. */
const unchecked = (into: string) => ({
  into,
  trust: { keys: { keys: [] }, acceptsUnverified: true },
  accept: () => undefined,
});

function errorOf({ stdout }: { stdout: string }) {
  return (JSON.parse(stdout) as { error: { code: string; message: string } }).error;
}

describe('backup', () => {
  it('writes the state of the agent at one commit, while the agent runs', async () => {
    const agent = await waiting();
    const into = temporary();

    const { code, stdout } = await run('backup', `${into}/`, '--dir', agent.folder.path);

    expect(code).toBe(0);
    const made = JSON.parse(stdout) as { file: string; bytes: number };
    expect(made).toEqual({
      file: expect.stringMatching(/\/till-\d{8}T\d{6}Z\.tar\.gz$/),
      agent_id: 'till',
      tasks: 1,
      waiting: 1,
      lines: agent.audit().length,
      files: expect.any(Number),
      bytes: statSync(made.file).size,
      left_out: ['.service/audit-key.pem'],
      changed: [],
      signed_by: expect.stringMatching(/^audit-[0-9a-f]{16}$/),
      deleted: [],
    });
    expect(statSync(made.file).mode & 0o777).toBe(0o600);
    expect(readdirSync(into)).toHaveLength(1);
    await agent.decide('order-1', { decision: 'approve', approver: 'ann@example.com' });
    await agent.reached('order-1', 'completed');
  });

  it('names what it omits: installable files, links out of the folder and the key of the log', async () => {
    const agent = await running();
    const { path } = agent.folder;
    await agent.send('greeting', [{ say: 'hello' }]);
    mkdirSync(join(path, 'node_modules/left'), { recursive: true });
    writeFileSync(join(path, 'node_modules/left/pad.js'), '');
    symlinkSync('/etc/hostname', join(path, 'outside'));
    symlinkSync('scripts', join(path, '..data'));
    symlinkSync('SKILL.md', join(path, 'inside.md'));

    const { stdout } = await run('backup', `${temporary()}/`, '--dir', path);
    const { file, left_out } = JSON.parse(stdout) as { file: string; left_out: string[] };
    const target = join(temporary(), 'agent');
    await run('restore', file, '--dir', target, '--accept-unverified');

    expect(left_out.toSorted()).toEqual([
      '..data',
      '.service/audit-key.pem',
      'node_modules/',
      'outside',
    ]);
    expect(readFileSync(join(target, 'inside.md'), 'utf8')).toBe(
      readFileSync(join(path, 'SKILL.md'), 'utf8'),
    );
    expect(existsSync(join(target, 'outside'))).toBe(false);
    expect(existsSync(join(target, '.service/runtime.token'))).toBe(false);
  });

  it('keeps the newest backups of this agent and no other file', async () => {
    const agent = await running();
    await agent.send('greeting', [{ say: 'hello' }]);
    const into = temporary();
    const old = ['20260101T000000Z', '20260102T000000Z', '20260103T000000Z'];
    for (const time of old) writeFileSync(join(into, `till-${time}.tar.gz`), '');
    const others = ['till-eu-20260101T000000Z.tar.gz', 'till-notes.txt'];
    for (const name of others) writeFileSync(join(into, name), '');

    const { stdout } = await run('backup', into, '--dir', agent.folder.path, '--keep', '2');

    const { file, deleted } = JSON.parse(stdout) as { file: string; deleted: string[] };
    expect(deleted).toEqual(old.slice(0, 2).map((time) => join(into, `till-${time}.tar.gz`)));
    expect(
      readdirSync(into)
        .map((name) => join(into, name))
        .toSorted(),
    ).toEqual(
      [
        file,
        join(into, `till-${old[2]}.tar.gz`),
        ...others.map((name) => join(into, name)),
      ].toSorted(),
    );
  });

  it('is restored completely when a tool has written a file with any name', async () => {
    const agent = await running();
    await agent.send('greeting', [{ say: 'hello' }]);
    const { path } = agent.folder;
    const names = ['a\\b', 'two\nlines', ' =', `é${'x'.repeat(200)}`, 'end.json', '__proto__'];
    for (const name of names) writeFileSync(join(path, name), name);
    mkdirSync(Buffer.concat([Buffer.from(`${path}/odd`), Buffer.of(0xff)]));
    const target = join(temporary(), 'agent');

    const { code, stdout } = await run('backup', `${temporary()}/`, '--dir', path);
    const { file, left_out } = JSON.parse(stdout) as { file: string; left_out: string[] };
    const restored = await run('restore', file, '--dir', target, '--accept-unverified');

    expect([code, left_out, restored.code]).toEqual([
      0,
      ['.service/audit-key.pem', 'odd\uFFFD'],
      0,
    ]);
    expect(names.map((name) => readFileSync(join(target, name), 'utf8'))).toEqual(names);
  });

  it('refuses a file that a later backup would contain', async () => {
    const agent = await running();
    await agent.send('greeting', [{ say: 'hello' }]);
    const { path } = agent.folder;
    const link = join(temporary(), 'link');
    symlinkSync(path, link);

    for (const file of [join(path, 'today.tar.gz'), join(link, 'backups/today.tar.gz')]) {
      const refused = errorOf(await run('backup', file, '--dir', path));
      expect(refused.message).toBe(
        `${file} is in the folder of the agent, so each backup would contain the earlier ones`,
      );
      expect(existsSync(file)).toBe(false);
    }
    const kept = join(path, '.service/backups/today.tar.gz');
    expect((await run('backup', kept, '--dir', path)).code).toBe(0);
  });

  it('refuses an existing file, a read-only folder and an agent without tasks', async () => {
    const agent = await running();
    await agent.send('greeting', [{ say: 'hello' }]);
    const { path } = agent.folder;
    const file = join(temporary(), 'there');
    writeFileSync(file, 'mine');
    const idle = new AgentFolder(resuming);
    onTestFinished(() => idle.remove());

    const there = await run('backup', file, '--dir', path);
    const notWritable = await run('backup', '/proc/backup.tar.gz', '--dir', path);
    const noTasks = await run('backup', join(temporary(), 'new'), '--dir', idle.path);
    const noFolder = await run('backup', join(temporary(), 'new'), '--dir', path, '--keep', '2');

    expect(errorOf(there).message).toBe(`${file} is there already`);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(errorOf(notWritable).message).toBe('/proc/backup.tar.gz cannot be written');
    expect(errorOf(noTasks).message).toBe('till has no tasks yet, so there is nothing to back up');
    expect(errorOf(noFolder).message).toBe('--keep needs a folder');
  });
});

it('a backup leaves enough disk space for the agent', async () => {
  const agent = await running();
  await agent.send('greeting', [{ say: 'hello' }]);
  const { path } = agent.folder;
  const spy = vi
    .spyOn(fs, 'statfsSync')
    .mockReturnValue({ bavail: 15, bsize: 1024 * 1024 } as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });

  const ended = await run('backup', `${temporary()}/`, '--dir', path);

  expect(errorOf(ended).message).toBe(
    `the copy of ${join(path, '.service/tasks.db')} does not fit on its disk`,
  );
  expect(readdirSync(join(path, '.service')).filter((name) => name.startsWith('backing'))).toEqual(
    [],
  );
});

describe('restore', () => {
  it('copies the agent to a new folder, where the waiting call is decided and runs once', async () => {
    const agent = await waiting();
    const file = await backedUp(agent);
    const target = join(temporary(), 'agent');

    const { code, stdout } = await restore(file, '--dir', target);

    expect({ code, ...JSON.parse(stdout) }).toEqual({
      code: 0,
      agent_id: 'till',
      directory: target,
      created_at: expect.any(String),
      files: expect.any(Number),
      log: 'restored',
      former_store: null,
      signed_by: expect.stringMatching(/^audit-[0-9a-f]{16}$/),
    });
    expect(statSync(join(target, 'scripts/pay.sh')).mode).toBe(
      statSync(join(agent.folder.path, 'scripts/pay.sh')).mode,
    );
    const restored = await started(target);
    const { created_at: at } = JSON.parse(stdout) as { created_at: string };
    const { body } = await restored.get('/deferrals');
    expect(body.deferrals[0].context).toBe(
      `Restored from a backup of ${at}: this call may have been decided since, so check before you approve.\ntool=pay args={"amount":5}`,
    );
    await restored.decide('order-1', { decision: 'approve', approver: 'ann@example.com' });
    await restored.reached('order-1', 'completed');
    expect(paidIn(target)).toHaveLength(1);
    const [event] = restored.audit().filter(({ event }) => event === 'store_restored');
    expect(event?.fields).toEqual({
      backup_at: at,
      tasks_ended: 0,
      waiting: 1,
      grants_suspended: 0,
      holds_unaccounted: 0,
      push_targets_deleted: 0,
      signed_by: (JSON.parse(stdout) as { signed_by: string }).signed_by,
    });
    await expectIntact(restored.auditPath);
    await restored.stop();
    const again = await started(target);
    expect(again.audit().filter(({ event }) => event === 'store_restored')).toHaveLength(1);
  });

  it('ends a running task, because its next calls may have run since', async () => {
    const agent = await running(resuming);
    const sent = agent.send('job-1', [
      { tool: 'hold', args: {} },
      { tool: 'pay', args: { amount: 1 } },
    ]);
    sent.catch(() => undefined);
    await vi.waitUntil(() => agent.folder.held.length === 1, { timeout: 20_000 });
    const file = await backedUp(agent);
    const target = join(temporary(), 'agent');

    await restore(file, '--dir', target);
    const restored = await started(target);

    const task = await restored.get('/tasks/job-1');
    expect(task.body.status.state).toBe('failed');
    expect(textOf(task)).toBe(
      'interrupted: the task was running when the backup was made; check what ran since, and send it again',
    );
    expect(story(restored.audit('job-1')).slice(-2)).toEqual([
      [
        'tool_exec',
        expect.objectContaining({
          phase: 'end',
          error: expect.stringContaining('running when the backup was made'),
        }),
      ],
      ['session_end', { state: 'failed' }],
    ]);
    expect(paidIn(target)).toEqual([]);
  });

  it('replaces a lost store, keeps the newer log and ends the task that the log shows as decided', async () => {
    const agent = await waiting();
    const file = await backedUp(agent);
    await agent.decide('order-1', { decision: 'approve', approver: 'ann@example.com' });
    await agent.reached('order-1', 'completed');
    await agent.stop();
    const lines = readFileSync(agent.auditPath, 'utf8');
    const store = join(agent.folder.path, '.service/tasks.db');
    truncateSync(store, 10_000);

    const refused = await restore(file, '--dir', agent.folder.path);
    const { code, stdout } = await restore(file, '--dir', agent.folder.path, '--replace');

    expect(errorOf(refused).message).toBe(
      `${store} is there; add --replace to put the store of the backup in its place, which keeps the present one next to it`,
    );
    expect(code).toBe(0);
    const { log, files, former_store: former } = JSON.parse(stdout) as Record<string, string>;
    expect({ log, files }).toEqual({ log: 'kept', files: 0 });
    expect(statSync(former!).size).toBe(10_000);
    const restored = await startInFolder(agent.folder);
    const task = await restored.get('/tasks/order-1');
    expect(textOf(task)).toBe('interrupted: the outcome is only in the audit log');
    expect(agent.folder.paid).toHaveLength(1);
    expect(readFileSync(restored.auditPath, 'utf8').startsWith(lines)).toBe(true);
    await expectIntact(restored.auditPath);
  });

  it('warns the approvers after a repeated restore too, since the log is still that of the backup', async () => {
    const file = await backedUp(await waiting());
    const [twice, interrupted] = [join(temporary(), 'agent'), join(temporary(), 'agent')];

    await restore(file, '--dir', twice);
    await restore(file, '--dir', twice, '--replace');
    await restore(file, '--dir', interrupted);
    rmSync(join(interrupted, '.service/tasks.db'));
    await restore(file, '--dir', interrupted);

    for (const target of [twice, interrupted]) {
      const { body } = await (await started(target)).get('/deferrals');
      expect(body.deferrals[0].context).toContain('Restored from a backup of ');
    }
  });

  it('moves the write-ahead log of a missing store aside', async () => {
    const agent = await waiting();
    const file = await backedUp(agent);
    const { path } = agent.folder;
    for (let number = 0; number < 20; number += 1) {
      await agent.send(`greeting-${number}`, [{ say: 'hello'.repeat(1_000) }]);
    }
    const store = join(path, '.service/tasks.db');
    const ahead = readFileSync(`${store}-wal`);
    await agent.stop();
    rmSync(store);
    writeFileSync(`${store}-wal`, ahead);

    const { code } = await restore(file, '--dir', path);

    expect(code).toBe(0);
    const restored = await startInFolder(agent.folder);
    expect((await restored.get('/tasks/order-1')).body.status.state).toBe('deferred');
  });

  it('suspends remembered approvals, ends delegations, deletes push receivers and signs everyone out', async () => {
    const agent = await running({ ...resuming, ...deferring({}, { remember: undefined }) });
    await agent.send('greeting', [{ say: 'hello' }]);
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(agent.folder.path, '.service/tasks.db'));
    database.exec(`INSERT INTO grants VALUES ('g1', 'pay', '{}', 9e12, 3, 0, '{"id":"g1"}');
      INSERT INTO web_sessions VALUES ('s1', 9e12, '{}');
      INSERT INTO push_targets VALUES ('greeting', 'p1', 0, 1, '{}');
      INSERT INTO delegations VALUES ('d1', 1, 9e12, 'ann@example.com', 'bob@example.com')`);
    database.close();
    const file = await backedUp(agent);
    const target = join(temporary(), 'agent');

    await restore(file, '--dir', target);
    const back = await started(target);
    await back.stop();

    const restored = new DatabaseSync(join(target, '.service/tasks.db'), { readOnly: true });
    onTestFinished(() => restored.close());
    expect(restored.prepare('SELECT is_suspended FROM grants').all()).toEqual([
      { is_suspended: 1 },
    ]);
    expect(restored.prepare('SELECT id FROM web_sessions').all()).toEqual([]);
    expect(restored.prepare('SELECT id FROM delegations').all()).toEqual([]);
    expect(restored.prepare('SELECT id FROM push_targets').all()).toEqual([]);
    const [mark] = back.audit().filter(({ event }) => event === 'store_restored');
    expect(mark?.fields).toMatchObject({ grants_suspended: 1, push_targets_deleted: 1 });
    const [ended] = back.audit().filter(({ event }) => event === 'delegation_ended');
    expect(ended?.fields).toEqual({
      ...{ id: 'd1', from: 'ann@example.com', to: 'bob@example.com' },
      until: new Date(9e12).toISOString(),
    });
  });

  it('refuses a backup that was cut at any point, and restores nothing', async () => {
    const file = await backedUp(await waiting());
    const whole = readFileSync(file);
    const folder = temporary();

    for (const part of [0, 1, 40, 0.2, 0.5, 0.9, whole.length - 1]) {
      const size = part > 0 && part < 1 ? Math.floor(whole.length * part) : part;
      const cut = join(folder, `cut-${size}.tar.gz`);
      writeFileSync(cut, whole.subarray(0, size));
      const target = join(folder, `target-${size}`);
      for (const args of [['--check'], ['--dir', target]]) {
        const { message, code } = errorOf(await run('restore', cut, ...args));
        expect({ size, code, message }).toEqual({
          size,
          code: 'backup_unusable',
          message: expect.stringMatching(
            size < 100
              ? / is no backup of an agent; /
              : / was cut or changed: its end is missing; nothing was restored, so use another backup$/,
          ),
        });
      }
      expect(existsSync(target) ? readdirSync(target) : []).toEqual([]);
    }
    const { stdout } = await restore(file, '--check');
    expect(JSON.parse(stdout)).toMatchObject({ agent_id: 'till', file });
  });

  it('refuses a backup with a changed byte, a foreign entry or no content', async () => {
    const file = await backedUp(await waiting());
    const folder = temporary();
    const tar = gunzipSync(readFileSync(file));
    const at = tar.lastIndexOf('"event":"policy_loaded"');
    tar[at + 10] = 'P'.charCodeAt(0);
    const changed = join(folder, 'changed.tar.gz');
    writeFileSync(changed, gzipSync(tar));
    const foreign = join(folder, 'foreign.tar.gz');
    const evil = pack();
    evil.entry({ name: 'backup.json' }, tar.subarray(512, tar.indexOf(0, 512)).toString());
    evil.entry({ name: 'agent/../../escaped' }, 'owned');
    evil.finalize();
    writeFileSync(
      foreign,
      gzipSync(Buffer.concat(await Array.fromAsync(evil as AsyncIterable<Buffer>))),
    );
    const other = join(folder, 'notes.txt');
    writeFileSync(other, 'hello');
    const target = join(folder, 'target');

    const messages = [];
    for (const path of [changed, foreign, other, join(folder, 'missing')]) {
      messages.push(errorOf(await run('restore', path, '--dir', target)).message);
    }

    expect(messages).toEqual([
      `${changed} was cut or changed: "log/audit.ndjson" is not as it was written; nothing was restored, so use another backup`,
      `${foreign} has an entry "agent/../../escaped" that no backup has; nothing was restored, so use another backup`,
      `${other} is no backup of an agent; name a file that holdpoint backup wrote`,
      `there is no file ${join(folder, 'missing')}; name a file that holdpoint backup wrote`,
    ]);
    expect(existsSync(join(folder, 'escaped'))).toBe(false);
    expect(readdirSync(target)).toEqual([]);
  });

  it('writes no file of a forged backup over the checked store and log', async () => {
    const file = await backedUp(await waiting());
    const folder = temporary();
    const { head, files } = await readBackup(file, unchecked(folder));
    const forged = join(folder, 'forged.tar.gz');
    const extra = ['tasks.db', 'tasks.db-wal', 'audit.ndjson', 'audit-000000000001.ndjson'];
    async function* entries(): AsyncGenerator<BackupEntry> {
      for (const path of [...files, ...extra.map((name) => `agent/.service/${name}`)]) {
        const from = files.includes(path)
          ? readFileSync(join(folder, path))
          : Buffer.from('forged');
        yield { path, bytes: from.length, mode: 0o600, content: Readable.from([from]) };
      }
    }
    await writeBackup({ path: forged, draft: `${forged}.draft`, head, signer: null }, entries());
    const target = join(temporary(), 'agent');

    const { code } = await run('restore', forged, '--dir', target, '--accept-unverified');

    const texts = extra
      .map((name) => join(target, '.service', name))
      .filter((path) => existsSync(path))
      .map((path) => readFileSync(path, 'utf8'));
    expect([code, texts.includes('forged')]).toEqual([0, false]);
  });

  it('replaces no store outside the new folder that the settings of the backup name', async () => {
    const path = join(temporary(), 'elsewhere.db');
    const agent = await running({ ...resuming, store: { path } });
    await agent.send('greeting', [{ say: 'hello' }]);
    const file = await backedUp(agent);
    const before = statSync(path).ino;
    const target = join(temporary(), 'agent');

    const refused = errorOf(await restore(file, '--dir', target));

    expect(refused.message).toContain(`${path} is there; add --replace`);
    expect([statSync(path).ino, readdirSync(target)]).toEqual([before, []]);
  });

  it('replaces the file behind a link, and refuses a link to a missing file', async () => {
    const agent = await waiting();
    const file = await backedUp(agent);
    await agent.stop();
    const [link, disk] = [join(agent.folder.path, '.service/tasks.db'), temporary()];
    const store = join(disk, 'tasks.db');
    cpSync(link, store);
    rmSync(link);
    symlinkSync(store, link);
    const before = statSync(store).ino;

    const { stdout } = await run('restore', file, '--dir', agent.folder.path, '--replace');
    const { former_store: former } = JSON.parse(stdout) as { former_store: string };
    const after = statSync(store).ino;
    const isLink = lstatSync(link).isSymbolicLink();
    rmSync(store);
    const refused = errorOf(await run('restore', file, '--dir', agent.folder.path, '--replace'));

    expect([isLink, after === before, dirname(former)]).toEqual([true, false, disk]);
    expect(statSync(former).ino).toBe(before);
    expect(refused.message).toBe(
      `${link} is a link to a file that is not there; restore its target, such as a disk to mount, or remove the link`,
    );
  });

  it('refuses a running agent, another agent, a folder with other files and another log', async () => {
    const agent = await waiting();
    const file = await backedUp(agent);
    const { path } = agent.folder;
    const other = await running({ ...resuming, ...{ agent_id: 'desk' } } as ServiceSettings);
    await other.send('greeting', [{ say: 'hello' }]);
    await other.stop();
    const files = temporary();
    writeFileSync(join(files, 'thesis.txt'), '');

    const overRunning = await restore(file, '--dir', path, '--replace');
    const overOther = await restore(file, '--dir', other.folder.path, '--replace');
    const overFiles = await restore(file, '--dir', files);
    await agent.stop();
    writeFileSync(agent.auditPath, readFileSync(other.auditPath, 'utf8').repeat(9));
    const overLog = await restore(file, '--dir', path, '--replace');

    expect(errorOf(overRunning).message).toBe(
      `another daemon already serves ${path}/.service; stop it first, or use another folder`,
    );
    expect(errorOf(overOther).message).toBe(
      `${file} is a backup of agent till, and ${other.folder.path} has agent desk; name another folder with --dir`,
    );
    expect(errorOf(overFiles).message).toBe(
      `${files} is not empty and has no service.yaml; name a new folder with --dir`,
    );
    expect(readdirSync(files)).toEqual(['thesis.txt']);
    expect(errorOf(overLog).code).toBe('store_unusable');
    const store = join(path, '.service/tasks.db');
    expect(existsSync(store)).toBe(true);
    expect(readdirSync(join(path, '.service')).filter((name) => name.includes('replaced'))).toEqual(
      [],
    );
  });
});
