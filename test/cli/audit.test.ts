import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import {
  agentWithLog,
  cleanUp,
  firstLine,
  shellCommand,
  startCommand,
  startProcess,
  temporaryFolder,
} from './holdpoint.ts';

let directory: string;
let log: string;

beforeAll(async () => {
  ({ directory, log } = await agentWithLog());
});

afterAll(cleanUp);

describe.concurrent('audit verify', () => {
  it('prints that the chain is intact', async () => {
    const [plain, json] = await Promise.all([
      holdpointHere(['audit', 'verify', log]),
      holdpointHere(['audit', 'verify', log, '--json']),
    ]);
    expect(plain).toEqual({
      code: 0,
      signal: null,
      stdout: '10 events, chain intact, 0 signed\n',
      stderr: '',
    });
    expect(JSON.parse(json.stdout)).toEqual({
      ok: true,
      events: 10,
      signed: 0,
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
      checked: 0,
    });
  });

  it('exits with 6 at the first changed line', async () => {
    const copy = join(await temporaryFolder(), 'audit.ndjson');
    const text = await readFile(log, 'utf8');
    await writeFile(copy, text.replace('"task_id":"t-1"', '"task_id":"t-9"'));
    const [plain, json] = await Promise.all([
      holdpointHere(['audit', 'verify', copy]),
      holdpointHere(['audit', 'verify', copy, '--json']),
    ]);
    expect(plain).toMatchObject({ code: 6, stdout: '' });
    expect(plain.stderr).toMatch(
      /^error: \S+audit\.ndjson:5 \(llm_call, seq 2\): prev_hash does not match the previous line; expected [0-9a-f]{64}, found [0-9a-f]{64}; keep the files .+\n$/,
    );
    expect(json.code).toBe(6);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      file: copy,
      line: 5,
      reason: 'prev_hash does not match the previous line',
      error: { code: 'audit_broken' },
    });
  });

  it('reads the files of one log in order', async () => {
    const folder = await temporaryFolder();
    const lines = (await readFile(log, 'utf8')).split(/(?<=\n)/);
    const [first, second] = [join(folder, 'a'), join(folder, 'b')];
    await writeFile(first, lines.slice(0, 3).join(''));
    await writeFile(second, lines.slice(3).join(''));
    const [right, wrong] = await Promise.all([
      holdpointHere(['audit', 'verify', first, second]),
      holdpointHere(['audit', 'verify', second, first]),
    ]);
    expect(right).toMatchObject({ code: 0, stdout: '10 events, chain intact, 0 signed\n' });
    expect(wrong.code).toBe(6);
  });

  it('refuses an unsigned log where signatures are required', async () => {
    const { code, stdout, stderr } = await holdpointHere([
      'audit',
      'verify',
      log,
      '--require-signed',
    ]);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toMatch(/^error: \S+audit\.ndjson:1 \(policy_loaded\): sig is missing; /);
  });

  it('exits with 6 for an emptied log, and with 3 for a missing one', async () => {
    const empty = join(await temporaryFolder(), 'audit.ndjson');
    await writeFile(empty, '');
    const [there, missing] = await Promise.all([
      holdpointHere(['audit', 'verify', empty]),
      holdpointHere(['audit', 'verify', `${empty}.missing`]),
    ]);
    expect(there).toMatchObject({ code: 6, stdout: '' });
    expect(there.stderr).toContain('error: no events: a log has some from its first start on');
    expect(missing.code).toBe(3);
    expect(missing.stderr).toContain(`error: The audit log ${empty}.missing cannot be read`);
  });
});

describe.concurrent('a range of time', () => {
  it('is shown and exported completely, both ends included', async () => {
    const copy = join(await temporaryFolder(), 'audit.ndjson');
    const lines = Array.from({ length: 40 }, (_, index) => {
      const ts = new Date(Date.UTC(2026, 6, 1, 0, index)).toISOString();
      return `{"event":"x","task_id":"t-${index % 2}","ts":"${ts}"}\n`;
    });
    await writeFile(copy, lines.join(''));
    const range = ['--from', '2026-07-01T00:05:00Z', '--to', '2026-07-01T02:30:00+02:00'];
    const [tail, two, exported, ofTask] = await Promise.all([
      holdpointHere(['audit', 'tail', '--file', copy, ...range, '--json']),
      holdpointHere(['audit', 'tail', '--file', copy, ...range, '-n', '2', '--json']),
      holdpointHere(['audit', 'export', '--file', copy, ...range]),
      holdpointHere(['audit', 'export', '--file', copy, ...range, '--task', 't-1']),
    ]);
    const expected = lines.slice(5, 31);
    expect(tail.stdout).toBe(expected.join(''));
    expect(two.stdout).toBe(expected.slice(-2).join(''));
    expect(exported.stdout).toBe(expected.join(''));
    expect(ofTask.stdout).toBe(expected.filter((line) => line.includes('t-1')).join(''));
    expect(await holdpointHere(['audit', 'export', '--file', copy, '--to', '9000d'])).toMatchObject(
      {
        code: 3,
        stderr:
          'error: the log holds no event of this time; check the range, and name another log with --dir or --file\n',
      },
    );
  });

  it.each([
    [
      ['tail', '--from', 'yesterday'],
      'from must be a time such as 2026-07-01T09:00:00Z, or a duration before now such as 7d; both ends belong to the range',
    ],
    [
      ['export', '--from', '1d', '--to', '7d'],
      'from must not be after to; both ends belong to the range',
    ],
    [
      ['tail', '-f', '--to', '1d'],
      '--follow and --to exclude each other; leave out --to to follow new events',
    ],
    [
      ['export'],
      'an export needs --task, --from or --to; name a task, or a range of time such as --from 7d',
    ],
  ])('exits with 2 for %j', async (words, sentence) => {
    expect(await holdpointHere(['audit', ...words])).toEqual({
      ...{ code: 2, signal: null, stdout: '', stderr: `error: ${sentence}\n` },
    });
  });
});

describe.concurrent('audit tail', () => {
  it('shows the latest events of a task or of a name', async () => {
    const tail = ['audit', 'tail', '--dir', directory];
    const [ofTask, ofName, latest] = await Promise.all([
      holdpointHere([...tail, '--task', 't-2']),
      holdpointHere([...tail, '--event', 'session_end', '--json']),
      holdpointHere([...tail, '-n', '1']),
    ]);
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
    const events = ofName.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(events).toEqual([
      expect.objectContaining({ task_id: 't-1', fields: { state: 'completed' } }),
      expect.objectContaining({ task_id: 't-2', fields: { state: 'completed' } }),
    ]);
    expect(latest.stdout).toMatch(/^\S+Z session_end task=t-2 state=completed\n$/);
  });

  it('follows a log until interrupted, and exits with 130', async () => {
    const file = join(await temporaryFolder(), 'audit.ndjson');
    const following = startCommand(['audit', 'tail', '-f', '--file', file, '--json']);
    await appendFile(file, '{"event":"policy_loaded","ts":"2026-07-01T09:00:00.000Z"}\n');
    expect(JSON.parse(await firstLine(following))).toMatchObject({ event: 'policy_loaded' });
    following.child.kill('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, signal: null });
  });

  it('exits silently when its reader exits', async () => {
    const file = join(await temporaryFolder(), 'audit.ndjson');
    const line = '{"event":"policy_loaded","ts":"2026-07-01T09:00:00.000Z"}\n';
    await writeFile(file, line.repeat(50_000));
    const tail = shellCommand(['audit', 'tail', '--file', file, '-n', '50000', '-f']);
    const { code, stdout, stderr } = await startProcess('sh', ['-c', `${tail} | head -1`]).ended;
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '2026-07-01T09:00:00.000Z policy_loaded\n',
      stderr: '',
    });
  });
});
