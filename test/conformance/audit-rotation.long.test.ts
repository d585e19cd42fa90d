import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { aServer } from '../actors/outbound/egress/a-server.ts';
import { keyOf } from '../actors/records/log/log-of.ts';
import { cleanUp, firstLine, holdpoint, startCommand } from '../cli/holdpoint.ts';
import type { AgentFolder } from '../helpers/agent-folder.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import type { TestAgent } from '../helpers/test-agent.ts';
import { startInFolder } from '../helpers/test-agent.ts';
import { outwardFolder } from './egress-agent.ts';

afterAll(cleanUp);

const rotating = { audit: { rotation: { max_bytes: 65_536 } } };

/** The files of a log, oldest first. */
function filesOf({ path }: AgentFolder): string[] {
  const names = readdirSync(join(path, '.service')).filter((name) => /^audit.*ndjson$/.test(name));
  const finished = names.filter((name) => name !== 'audit.ndjson').toSorted();
  return [...finished, 'audit.ndjson'].map((name) => join(path, '.service', name));
}

/** Every line of the log, over all its files. */
function linesOf(folder: AgentFolder): string[] {
  return filesOf(folder).flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean));
}

/** Has the agent work until its log has so many files; the tasks are `PREFIX-0` and so on. */
async function fill(agent: TestAgent, files: number, prefix = 't'): Promise<void> {
  for (let at = 0; filesOf(agent.folder).length < files; at += 1) {
    expect(at).toBeLessThan(2_000);
    expect((await agent.send(`${prefix}-${at}`, [{ say: 'hi' }])).status).toBe(200);
  }
}

// The log in PostgreSQL is no file that could be rotated.
describe.skipIf(isOverPostgres)('a log that rotates while the daemon works', () => {
  it('verifies over all its files, in order and across a restart', async () => {
    const folder = outwardFolder(rotating);
    const agent = await startInFolder(folder);
    await fill(agent, 3);
    await agent.stop();
    const again = await startInFolder(folder);
    await fill(again, 4, 'u');
    await again.stop();
    const files = filesOf(folder);
    const lines = linesOf(folder).map((line) => JSON.parse(line));
    const finished = files.slice(0, -1);
    for (const file of finished) {
      expect(statSync(file).mode & 0o777).toBe(0o400);
      const last = JSON.parse(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '');
      expect([last.event, last.fields.file]).toEqual(['audit_rotated', file.split('/').at(-1)]);
    }
    expect(lines.filter(({ event }) => event === 'audit_rotated')).toHaveLength(finished.length);
    const verified = await holdpoint(['audit', 'verify', ...files]);
    expect([verified.code, verified.stdout.split('\n')[0]]).toEqual([
      0,
      `${lines.length} events, chain intact, 0 signed`,
    ]);
    const swapped = [files[1], files[0], ...files.slice(2)] as string[];
    expect((await holdpoint(['audit', 'verify', ...swapped])).code).toBe(6);
    const without = await holdpoint(['audit', 'verify', ...files.toSpliced(1, 1)]);
    expect(without.code).toBe(6);
    // No task has a gap, on whichever side of a rotation its events are.
    const seqs = Map.groupBy(
      lines.filter(({ task_id }) => task_id !== undefined),
      ({ task_id }) => task_id as string,
    );
    expect(seqs.size).toBeGreaterThan(2);
    for (const events of seqs.values()) {
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    }
  }, 60_000);

  it('is signed line by line, and sent to its sinks unchanged', async () => {
    let taken = '';
    const { port } = await aServer(({ body }, response) => {
      taken += body;
      response.end();
    });
    const key = keyOf('v1', Buffer.alloc(32, 21));
    const secret = key.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const audit = {
      ...rotating.audit,
      signing: { enabled: true, kid: 'v1' },
      sinks: [{ type: 'http', url: `http://127.0.0.1:${port}/` }],
    };
    const folder = outwardFolder({ audit });
    const agent = await startInFolder(folder, { SERVICE_AUDIT_SIGNING_KEY: secret });
    await fill(agent, 3);
    await agent.stop();
    const lines = linesOf(folder);
    expect(taken).toBe(`${lines.join('\n')}\n`);
    const keys = join(folder.path, 'keys.json');
    writeFileSync(keys, JSON.stringify({ keys: [key.publicKey] }));
    const verifying = ['audit', 'verify', '--keys', keys, '--require-signed'];
    const verified = await holdpoint([...verifying, ...filesOf(folder)]);
    expect([verified.code, verified.stdout.split('\n')[0]]).toEqual([
      0,
      `${lines.length} events, chain intact, ${lines.length} signed`,
    ]);
  }, 60_000);

  it('is followed by audit tail -f from one file into the next', async () => {
    const folder = outwardFolder(rotating);
    const agent = await startInFolder(folder);
    const command = ['audit', 'tail', '-f', '-n', '2', '--json', '--dir', folder.path];
    const tail = startCommand(command);
    let said = '';
    tail.child.stdout?.on('data', (text: string) => (said += text));
    await firstLine(tail);
    await fill(agent, 2);
    await agent.send('last', [{ say: 'hi' }]);
    const log = linesOf(folder);
    await vi.waitFor(() => expect(said.trimEnd().split('\n').at(-1)).toBe(log.at(-1)), {
      timeout: 15_000,
      interval: 20,
    });
    expect(said.trimEnd().split('\n')).toEqual(log);
    tail.child.kill('SIGTERM');
    await tail.ended;
  }, 60_000);

  it('returns the lines of a task over all its files', async () => {
    const folder = outwardFolder({
      ...rotating,
      security: {
        defer: { enabled: true, tools: { pay: { to: 'channel:console:desk', timeout: '5m' } } },
      },
    });
    const agent = await startInFolder(folder);
    const held = agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
    await agent.reached('held', 'deferred');
    await fill(agent, 3);
    await agent.decide('held', { decision: 'approve', approver: 'ada' });
    expect((await held).body.status.state).toBe('completed');
    const own = linesOf(folder).filter((line) => JSON.parse(line).task_id === 'held');
    const spread = filesOf(folder).filter((file) =>
      readFileSync(file, 'utf8').includes('"task_id":"held"'),
    );
    expect(spread.length).toBeGreaterThan(1);
    const exporting = ['audit', 'export', '--task', 'held', '--dir', folder.path];
    const [plain, proof] = await Promise.all([
      holdpoint(exporting),
      holdpoint([...exporting, '--proof']),
    ]);
    expect([plain.code, plain.stdout]).toEqual([0, `${own.join('\n')}\n`]);
    const { task_id, lines, count } = JSON.parse(proof.stdout);
    expect([
      proof.code,
      task_id,
      lines.map(({ line }: { line: string }) => line.trimEnd()),
    ]).toEqual([0, 'held', own]);
    expect(count).toBe(linesOf(folder).length);
    expect([...new Set(lines.map(({ file }: { file: string }) => file.split('/').at(-1)))]).toEqual(
      spread.map((file) => file.split('/').at(-1)),
    );
  }, 60_000);
});
