import { hash } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csvHeader, csvLine, ocsfEvent } from '../../src/actors/records/log/audit.ts';
import { finishedPath } from '../../src/actors/records/log/log-files.ts';
import { version } from '../../src/version.ts';
import { holdpointHere } from './command-here.ts';
import { agentWithLog, cleanUp, temporaryFolder } from './holdpoint.ts';

let directory: string;
let log: string;
let lines: string[];

beforeAll(async () => {
  ({ directory, log } = await agentWithLog());
  lines = (await readFile(log, 'utf8')).split(/(?<=\n)/);
});

afterAll(cleanUp);

const ofTask = (id: string) => lines.filter((line) => line.includes(`"task_id":"${id}"`));

describe.concurrent('audit export', () => {
  it('prints the exact lines of a task', async () => {
    const command = ['audit', 'export', '--task', 't-1', '--dir', directory];
    const [plain, json] = await Promise.all([
      holdpointHere(command),
      holdpointHere([...command, '--json']),
    ]);
    const expected = { code: 0, signal: null, stdout: ofTask('t-1').join(''), stderr: '' };
    expect(ofTask('t-1')).toHaveLength(3);
    expect(plain).toEqual(expected);
    expect(json).toEqual(expected);
  });

  it('reads all files of a log', async () => {
    const copy = join(await temporaryFolder(), 'audit.ndjson');
    await writeFile(copy, lines.slice(0, 4).join(''));
    await rename(copy, finishedPath(copy, 1));
    await writeFile(copy, lines.slice(4).join(''));
    const { stdout } = await holdpointHere(['audit', 'export', '--task', 't-1', '--file', copy]);
    expect(stdout).toBe(ofTask('t-1').join(''));
  });

  it('writes a new file for its owner only, and replaces none', async () => {
    const target = join(await temporaryFolder(), 'task.ndjson');
    const command = ['audit', 'export', '--task', 't-2', '--file', log, '-o', target];
    const first = await holdpointHere([...command, '--json']);
    expect(JSON.parse(first.stdout)).toEqual({ task_id: 't-2', events: 3, file: target });
    expect(await readFile(target, 'utf8')).toBe(ofTask('t-2').join(''));
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    const second = await holdpointHere(command);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toBe(`error: ${target} is there already; name another file with -o\n`);
  });

  it('writes CSV and OCSF, one event per line', async () => {
    const command = ['audit', 'export', '--task', 't-1', '--dir', directory, '--format'];
    const [csv, ocsf, proof] = await Promise.all([
      holdpointHere([...command, 'csv']),
      holdpointHere([...command, 'ocsf']),
      holdpointHere([...command, 'csv', '--proof']),
    ]);
    const rows = ofTask('t-1').map((line) => csvLine(Buffer.from(line)));
    expect(csv).toMatchObject({ code: 0, stdout: [csvHeader, ...rows].join('') });
    const objects = ofTask('t-1').map((line) => ocsfEvent(Buffer.from(line.trimEnd()), version));
    expect(
      ocsf.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(objects);
    expect(proof).toMatchObject({
      code: 2,
      stderr:
        'error: --proof and --format exclude each other; a proof is a JSON document of its own\n',
    });
  });

  it('proves the place of each line in a chain, and names its head', async () => {
    const { code, stdout } = await holdpointHere([
      ...['audit', 'export', '--task', 't-1', '--file', log, '--proof', '--json'],
    ]);
    expect(code).toBe(0);
    const places = lines.flatMap((line, index) =>
      line.includes('"task_id":"t-1"')
        ? [
            {
              file: log,
              line_number: index + 1,
              sha256: hash('sha256', line.trimEnd(), 'hex'),
              line: line.trimEnd(),
            },
          ]
        : [],
    );
    expect(JSON.parse(stdout)).toEqual({
      task_id: 't-1',
      lines: places,
      head: hash('sha256', lines.at(-1)!.trimEnd(), 'hex'),
      count: lines.length,
    });
  });

  it('proves nothing of a log with a broken chain, and leaves no file', async () => {
    const folder = await temporaryFolder();
    const [copy, target] = [join(folder, 'audit.ndjson'), join(folder, 'proof.json')];
    await writeFile(copy, lines.toSpliced(1, 1).join(''));
    const command = ['audit', 'export', '--task', 't-1', '--file', copy, '--proof'];
    const [plain, json] = await Promise.all([
      holdpointHere([...command, '-o', target]),
      holdpointHere([...command, '--json']),
    ]);
    expect(plain).toMatchObject({ code: 6, stdout: '' });
    expect(plain.stderr).toContain(
      `error: ${copy}:2 breaks the chain; a proof needs an intact log`,
    );
    await expect(stat(target)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'audit_broken' } });
  });

  it('exits with 3 for a missing task or log', async () => {
    const [task, file] = await Promise.all([
      holdpointHere(['audit', 'export', '--task', 'none', '--file', log, '--json']),
      holdpointHere(['audit', 'export', '--task', 't-1', '--file', `${log}.none`]),
    ]);
    expect(task.code).toBe(3);
    expect(JSON.parse(task.stdout)).toMatchObject({ error: { code: 'not_found' } });
    expect(file).toMatchObject({ code: 3, stdout: '' });
  });
});

describe.concurrent('audit tail over lines of any kind', () => {
  it('prints lines unchanged with --json, and marks those without an event', async () => {
    const copy = join(await temporaryFolder(), 'audit.ndjson');
    await writeFile(copy, `${lines[1]}\u001b[2Jnonsense\n${lines[2]}`);
    const [plain, json] = await Promise.all([
      holdpointHere(['audit', 'tail', '--file', copy]),
      holdpointHere(['audit', 'tail', '--file', copy, '--json']),
    ]);
    expect(plain.stdout.split('\n')[1]).toBe('bad line: "\\u001b[2Jnonsense"');
    expect(json.stdout).toBe(
      `${lines[1]}${JSON.stringify({ bad_line: '\u001b[2Jnonsense' })}\n${lines[2]}`,
    );
  });

  it('accepts a prefix of a name', async () => {
    const { stdout } = await holdpointHere([
      'audit',
      'tail',
      '--file',
      log,
      '--event',
      'session_*',
    ]);
    expect(stdout.trimEnd().split('\n')).toHaveLength(4);
  });
});
