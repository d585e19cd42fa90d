import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  cleanUp,
  holdpoint,
  shellCommand,
  startCommand,
  startProcess,
  temporaryFolder,
} from './holdpoint.ts';
import { onTerminal, printed } from './terminal.ts';

afterAll(cleanUp);

const refundedRow = /^A-1042,.*,refunded,R-[0-9a-f]{12},89\.90,/;

describe.concurrent('try without a terminal', () => {
  it('plays a refund from the request to the audit log, and removes its folder', async () => {
    const home = await temporaryFolder();
    const { code, stdout, stderr } = await holdpoint(['try', '--scripted'], {
      env: { TMPDIR: home },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ {3}tool {7}issue_refund$/m);
    expect(stdout).toContain('data/orders.csv has not changed');
    expect(stdout).toMatch(/^ {3}Order A-1042 is refunded\. \{"refund_id":"R-[0-9a-f]{12}"/m);
    expect(stdout).toMatch(/^ {3}before {2}A-1042,.*,delivered,,,,$/m);
    expect(stdout).toMatch(/^ {3}after {3}A-1042,.*,refunded,R-[0-9a-f]{12},89\.90,/m);
    const proof = stdout.slice(stdout.indexOf('5. The log proves it\n'));
    expect(proof.replace(/\d\d:\d\d:\d\d/g, 'TIME').split('\n')).toEqual([
      '5. The log proves it',
      '   asked     TIME  by the operator of this machine',
      '   held      TIME  issue_refund, by defer.tools.issue_refund[1]',
      '   approved  TIME  by ann@example.com',
      '   ran once  TIME  succeeded',
      '   receipt   verified  18 events, chain intact, 18 signed',
      '',
    ]);
    expect(await readdir(home)).toEqual([]);
  });

  it('prints the story as one JSON document, and changes one order once', async () => {
    const dir = join(await temporaryFolder(), 'kept');
    const { code, stdout, stderr } = await holdpoint([
      'try',
      '--scripted',
      '--keep',
      dir,
      '--json',
    ]);
    expect(code).toBe(0);
    const story = JSON.parse(stdout) as { before: string; after: string; events: object[] };
    expect(story).toMatchObject({
      task: { id: 'refund-1', status: { state: 'completed' } },
      deferral: {
        tool: 'issue_refund',
        args: { order_id: 'A-1042', amount: 89.9, currency: 'EUR' },
      },
      audit: { ok: true },
    });
    expect(story.after).toMatch(refundedRow);
    expect(stderr).toBe(`kept; continue with: holdpoint run --dir ${dir}\n`);
    const table = await readFile(join(dir, 'data', 'orders.csv'), 'utf8');
    const original = await readFile('examples/refunds/data/orders.csv', 'utf8');
    expect(table).toBe(original.replace(story.before, () => story.after));
    expect(existsSync(join(dir, '.service', 'serve.json'))).toBe(false);
  });

  it('refuses to keep the agent in a folder that is in use', async () => {
    const dir = await temporaryFolder();
    await writeFile(join(dir, 'mine.txt'), 'mine');
    const { code, stderr } = await holdpoint(['try', '--scripted', '--keep', dir]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: \S+ is not an empty folder; give --keep a new folder/);
    expect(await readdir(dir)).toEqual(['mine.txt']);
  });

  it('cleans up when interrupted', async () => {
    const home = await temporaryFolder();
    const started = startCommand(['try', '--scripted'], { env: { TMPDIR: home } });
    await printed(started, 'A refund agent runs');
    started.child.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 130, signal: null });
    expect(await readdir(home)).toEqual([]);
  });

  it('cleans up silently when its reader exits', async () => {
    const home = await temporaryFolder();
    const story = shellCommand(['try', '--scripted']);
    const { stderr } = await startProcess('sh', ['-c', `${story} | true`], {
      env: { TMPDIR: home },
    }).ended;
    expect(stderr).toBe('');
    expect(await readdir(home)).toEqual([]);
  });
});

describe('try on a terminal', () => {
  it('asks inline before a refund is paid', async () => {
    const dir = join(await temporaryFolder(), 'kept');
    const { child, ended } = onTerminal(['try', '--scripted', '--keep', dir]);
    await printed({ child, ended }, 'you> ');
    child.stdin?.write('hello\n');
    await printed({ child, ended }, 'agent> I refund orders, such as:');
    child.stdin?.write('please refund a-1042, it is broken\n');
    await printed(
      { child, ended },
      /approve\? \[y\/n\] \(auto-deny in 4m\d\ds\).*\(auto-deny in 4m\d\ds\)/s,
    );
    child.stdin?.write('maybe\n');
    await printed({ child, ended }, 'approve? [y/n]');
    child.stdin?.write('y\n');
    await printed({ child, ended }, 'agent> Order A-1042 is refunded.');
    child.stdin?.write('exit\n');
    expect((await ended).code).toBe(0);
    const table = await readFile(join(dir, 'data', 'orders.csv'), 'utf8');
    const original = await readFile('examples/refunds/data/orders.csv', 'utf8');
    const before = new Set(original.split('\n'));
    expect(table.split('\n').filter((row) => !before.has(row))).toEqual([
      expect.stringMatching(refundedRow),
    ]);
  });

  it('accepts a reason for a rejection, and exits at the end of the input', async () => {
    const home = await temporaryFolder();
    const { child, ended } = onTerminal(['try', '--scripted'], { TMPDIR: home });
    await printed({ child, ended }, 'you> ');
    child.stdin?.write('refund A-1042\n');
    await printed({ child, ended }, 'approve? [y/n]');
    child.stdin?.write('n\n');
    await printed({ child, ended }, 'reason (may be empty): ');
    child.stdin?.write('not today\n');
    await printed({ child, ended }, ': not today');
    child.stdin?.write('\u0004');
    expect((await ended).code).toBe(0);
    expect(await readdir(home)).toEqual([]);
  });

  it('exits with 130 on Ctrl-C, also while a call is held', async () => {
    const home = await temporaryFolder();
    const { child, ended } = onTerminal(['try', '--scripted'], { TMPDIR: home });
    await printed({ child, ended }, 'you> ');
    child.stdin?.write('refund A-1042\n');
    await printed({ child, ended }, 'approve? [y/n]');
    child.stdin?.write('\u0003');
    expect((await ended).code).toBe(130);
    expect(await readdir(home)).toEqual([]);
  });
});
