import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifyFiles } from '../../src/actors/records/log/audit.ts';
import { logFilesOf } from '../../src/actors/records/log/log-files.ts';
import { keyOf } from '../actors/records/log/log-of.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { runAgent } from '../helpers/agent-process.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import {
  type AuditLine,
  deferring,
  launchAgent,
  readAudit,
  story,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const outcome = 'interrupted: the outcome is only in the audit log';
const storeNames = ['tasks.db', 'tasks.db-wal', 'tasks.db-shm'];

function folderOf(settings: ServiceSettings = {}): AgentFolder {
  const folder = new AgentFolder({ ...deferring({}, { on_restart: 'resume' }), ...settings });
  onTestFinished(() => folder.remove());
  return folder;
}

/** Keeps a copy of the store as it is; the returned function puts it back, in place of what is there then. */
function copyOfStore({ path }: AgentFolder): () => void {
  const inState = (name: string): string => join(path, '.service', name);
  const names = storeNames.filter((name) => name !== 'tasks.db-shm' && existsSync(inState(name)));
  for (const name of names) copyFileSync(inState(name), join(path, name));
  return () => {
    for (const name of storeNames) rmSync(inState(name), { force: true });
    for (const name of names) copyFileSync(join(path, name), inState(name));
  };
}

const logOf = ({ path }: AgentFolder): string => join(path, '.service/audit.ndjson');

/** Every line of the log of an agent unchanged, over all its files. */
function linesOf(folder: AgentFolder): string[] {
  return logFilesOf(logOf(folder)).flatMap((file) =>
    readFileSync(file, 'utf8').split('\n').filter(Boolean),
  );
}

function eventsOf(folder: AgentFolder): AuditLine[] {
  return logFilesOf(logOf(folder)).flatMap((file) => readAudit(file));
}

async function startIn(
  folder: AgentFolder,
  options: { keepLog?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<TestAgent> {
  const agent = await launchAgent({}, { folder, ...options });
  onTestFinished(() => agent.stop());
  return agent;
}

/** A call that waits, a copy of the store, then the approval of the call and a task more, and the copy put back. */
async function olderStore(
  folder: AgentFolder,
  env: NodeJS.ProcessEnv = {},
  meanwhile: (agent: TestAgent) => Promise<void> = async () => undefined,
): Promise<number> {
  const agent = await startIn(folder, { env });
  const held = agent.send('t1', pay);
  await agent.reached('t1', 'deferred');
  const known = linesOf(folder).length;
  const putBack = copyOfStore(folder);
  expect((await agent.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
  await held;
  await agent.send('t2', [{ say: 'hi' }]);
  await meanwhile(agent);
  await agent.stop();
  putBack();
  expect(folder.paid).toHaveLength(1);
  return linesOf(folder).length - known;
}

/** Starts on an older store, with the log kept, and expects that nothing runs again and nothing is lost. */
async function expectKept(folder: AgentFolder, ahead: number, env: NodeJS.ProcessEnv = {}) {
  const lines = linesOf(folder);
  const agent = await startIn(folder, { keepLog: true, env });
  expect(textOf(await agent.get('/tasks/t1'))).toBe(outcome);
  expect((await agent.get('/tasks/t1')).body.status.state).toBe('failed');
  expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject({ status: 404 });
  expect((await agent.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
  expect(folder.paid).toHaveLength(1);
  expect((await agent.send('t3', [{ say: 'hi' }])).status).toBe(200);
  await agent.stop();
  expect(linesOf(folder).slice(0, lines.length)).toEqual(lines);
  const said = eventsOf(folder).filter(({ event }) => event === 'store_behind_log');
  expect(said.map(({ fields }) => fields)).toEqual([{ events: ahead, tasks: 1 }]);
  expect(await verifyFiles(logFilesOf(logOf(folder)))).toMatchObject({ ok: true });
  expect(agent.log.filter(({ level }) => level === 'error')).toEqual([
    {
      level: 'error',
      fields: { events: ahead, tasks: 1 },
      message:
        'audit: the task store was older than its log; the log was kept, and the tasks it names were ended',
    },
  ]);
  return agent;
}

function refusal(folder: AgentFolder, ahead: number, files = [logOf(folder)]): string {
  const verb = files.length === 1 ? 'holds' : 'hold';
  return `the task store ${join(folder.path, '.service/tasks.db')} is older than its audit log: ${files.join(', ')} ${verb} ${ahead} events that it does not know; restore the newest copy of the store, or start once with holdpoint run --keep-log, which keeps them and ends the tasks they name`;
}

// In PostgreSQL a store and its log are one database, of which restored-database.test.ts is.
describe.skipIf(isOverPostgres)('a store that is older than its log', () => {
  it('is refused, and the log is not changed', async () => {
    const folder = folderOf();
    const ahead = await olderStore(folder);
    const before = readFileSync(logOf(folder));
    for (const _ of [1, 2]) {
      await expect(startIn(folder)).rejects.toThrow(refusal(folder, ahead));
      expect(readFileSync(logOf(folder))).toEqual(before);
    }
    expect(folder.paid).toHaveLength(1);
  });

  it('is accepted when the log is to be kept, and the call that ran is over', async () => {
    const folder = folderOf();
    const agent = await expectKept(folder, await olderStore(folder));
    expect(story(agent.audit('t1')).slice(-2)).toEqual([
      ['llm_call', expect.anything()],
      ['session_end', { state: 'completed' }],
    ]);
    const again = await startIn(folder);
    expect((await again.get('/tasks/t1')).body.status.state).toBe('failed');
  });

  it('is detected when its log is signed', async () => {
    const folder = folderOf({ audit: { signing: { enabled: true } } });
    const { privateKey } = keyOf('service-audit-v1', Buffer.alloc(32, 1));
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const env = { SERVICE_AUDIT_SIGNING_KEY: secret };
    const ahead = await olderStore(folder, env);
    await expect(startIn(folder, { env })).rejects.toThrow(refusal(folder, ahead));
    await expectKept(folder, ahead, env);
  });

  it('is detected when its log was rotated in between', async () => {
    const folder = folderOf({ audit: { rotation: { max_bytes: 65_536 } } });
    const ahead = await olderStore(folder, {}, async (agent) => {
      for (let at = 0; logFilesOf(logOf(folder)).length < 3; at += 1) {
        await agent.send(`more-${at}`, [{ say: 'hi' }]);
      }
    });
    await expect(startIn(folder)).rejects.toThrow(
      refusal(folder, ahead, logFilesOf(logOf(folder))),
    );
    await expectKept(folder, ahead);
  });

  it('ends unfinished work of the log, with or without a row in the store', async () => {
    const folder = folderOf();
    const agent = await runAgent(folder);
    agent.send('t1', pay).catch(() => undefined);
    await reachedState(agent, 't1', 'deferred');
    const putBack = copyOfStore(folder);
    agent.send('t2', pay).catch(() => undefined);
    await reachedState(agent, 't2', 'deferred');
    agent.send('t3', [{ tool: 'hold' }]).catch(() => undefined);
    await vi.waitFor(() => expect(folder.held).toHaveLength(1), 10_000);
    await agent.kill();
    folder.leaveGate();
    putBack();
    const again = await startIn(folder, { keepLog: true });
    const states = ['t1', 't2', 't3'].map(async (id) => textOf(await again.get(`/tasks/${id}`)));
    // Nothing that the store lacks is about the first.
    expect(await Promise.all(states)).toEqual([
      'Deferred: awaiting channel:console:desk decision on pay',
      outcome,
      outcome,
    ]);
    expect(story(again.audit('t2')).slice(-3)).toEqual([
      ['task_deferred', expect.anything()],
      ['task_deferred_abandoned', { tool: 'pay', reason: 'service_restart' }],
      ['session_end', { state: 'failed' }],
    ]);
    expect(story(again.audit('t3')).slice(-3)).toEqual([
      ['tool_exec', { tool: 'hold', phase: 'start' }],
      ['tool_exec', { tool: 'hold', phase: 'end', outcome: 'unknown', error: outcome }],
      ['session_end', { state: 'failed' }],
    ]);
    for (const id of ['t2', 't3']) {
      expect(again.audit(id).map(({ seq }) => seq)).toEqual(
        again.audit(id).map((_, index) => index + 1),
      );
    }
  });
});

describe.skipIf(isOverPostgres)('a store that silently lost its latest commits', () => {
  it.each([
    ['a damaged piece of its WAL', flipWal],
    ['its whole WAL gone', ({ path }: AgentFolder) => rmSync(join(path, '.service/tasks.db-wal'))],
  ])('is detected by its log: %s', async (_name, damage) => {
    const folder = folderOf();
    const agent = await runAgent(folder);
    const held = agent.send('t1', pay).catch(() => undefined);
    await reachedState(agent, 't1', 'deferred');
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    await held;
    for (const id of ['t2', 't3']) await agent.send(id, [{ say: 'hi' }]);
    await agent.kill();
    damage(folder);
    const lines = linesOf(folder);
    await expect(runAgent(folder)).rejects.toThrow(
      /^the agent did not start \(1\): .* is older than its audit log: /s,
    );
    expect(linesOf(folder)).toEqual(lines);
    const again = await runAgent(folder, ['--keep-log']);
    await again.decide('t1', { decision: 'approve' });
    expect(folder.paid).toHaveLength(1);
    expect(linesOf(folder).slice(0, lines.length)).toEqual(lines);
    expect(await verifyFiles([logOf(folder)])).toMatchObject({ ok: true });
  });
});

/** Turns 16 bytes over, as a bad sector would; SQLite lets go of that commit and all that followed. */
function flipWal({ path }: AgentFolder): void {
  const file = openSync(join(path, '.service/tasks.db-wal'), 'r+');
  const at = Math.floor(fstatSync(file).size * 0.6);
  const bytes = Buffer.alloc(16);
  readSync(file, bytes, 0, 16, at);
  writeSync(
    file,
    bytes.map((byte) => byte ^ 0xff),
    0,
    16,
    at,
  );
  closeSync(file);
}

async function reachedState(
  agent: { get(path: string): Promise<{ body: any }> },
  id: string,
  state: string,
): Promise<void> {
  await vi.waitFor(
    async () => expect((await agent.get(`/tasks/${id}`)).body.status?.state).toBe(state),
    { timeout: 10_000, interval: 5 },
  );
}
