import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { docPages } from '../../../src/cli/docs/doc-pages.ts';
import { tokensAt } from '../../../src/cli/docs/doc-sections.ts';
import { findPage } from '../../../src/cli/docs/find-page.ts';
import { holdpointHere } from '../command-here.ts';
import { cleanUp, holdpoint, startCommand, temporaryFolder } from '../holdpoint.ts';
import { onTerminal } from '../terminal.ts';

afterAll(cleanUp);

const root = join(import.meta.dirname, '../../..');
const pages = docPages();

describe('docs', () => {
  it('lists each page with its first sentence', async () => {
    const { code, stdout, stderr } = await holdpointHere(['docs']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines.slice(0, -3).map((line) => line.split(' ')[0])).toEqual(
      pages.map(({ name }) => name),
    );
    expect(lines.slice(-3)).toEqual([
      '',
      'Read one with holdpoint docs NAME, or in the browser with --open.',
      '',
    ]);
    expect(pages.filter(({ title, summary }) => title === '' || summary === '')).toEqual([]);
  });

  it('includes each page of the folder', () => {
    const files = globSync('docs/**/*.md', { cwd: root });
    const paths = pages.map(({ path }) => path);
    expect(files.filter((file) => !paths.includes(file))).toEqual([]);
  });

  it.each(['gate', 'docs/gate.md', './docs/gate.md', 'gate.md'])(
    'prints a page by its name or path: %s',
    async (name) => {
      const { code, stdout } = await holdpointHere(['docs', name]);
      expect([code, stdout.split('\n')[0]]).toEqual([0, 'Hold calls of any agent']);
    },
  );

  it('prints one section', async () => {
    const { stdout } = await holdpointHere(['docs', 'debugging#4-watch-it-live']);
    expect(stdout.split('\n')[0]).toBe('4. Watch it live');
    expect(stdout).not.toContain('5. Read the chart');
    expect(await holdpointHere(['docs', 'gate#nowhere'])).toMatchObject({
      code: 3,
      stderr:
        'error: the page gate has no section nowhere; read the whole page with holdpoint docs gate\n',
    });
  });

  it('prints the Markdown with --json', async () => {
    const { stdout } = await holdpointHere(['docs', 'gate', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      name: 'gate',
      title: 'Hold calls of any agent',
      text: readFileSync(join(root, 'docs/gate.md'), 'utf8'),
    });
  });

  it('prints the entry of the code of an error', async () => {
    const { code, stdout } = await holdpointHere(['docs', 'no_fake_slack', '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        page: 'errors',
        text: '## The command\n\n`no_fake_slack`:\n\n- the installed package has no fake Slack; run this command in a clone\n',
      },
    ]);
    expect((await holdpointHere(['docs', 'EgressError'])).stdout).toContain('Error classes');
    expect((await holdpointHere(['docs', '409'])).stdout).toContain('HTTP of an agent');
  });

  it.each([
    ['govenance', 'did you mean holdpoint docs governance?'],
    ['max_failed_turns', 'did you mean holdpoint docs configuration#model?'],
    ['xyzzyxyzzy', 'list the pages with holdpoint docs'],
  ])('names the nearest page to %s', async (asked, hint) => {
    expect(await holdpointHere(['docs', asked])).toEqual({
      ...{ code: 3, signal: null, stdout: '' },
      stderr: `error: there is no page ${asked}; ${hint}\n`,
    });
  });

  it.each([
    '../package.json',
    'docs/../package.json',
    '/etc/passwd',
    '../../../../etc/passwd',
    'screens/approval.png',
    '',
    '__proto__',
  ])('opens no other file: %j', async (asked) => {
    const { code, stdout } = await holdpointHere(['docs', asked]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  });

  it('finds sections that contain all words', async () => {
    const { code, stdout } = await holdpointHere([
      'docs',
      '--search',
      'four_eyes',
      'quorum',
      '--json',
    ]);
    const { sections } = JSON.parse(stdout) as { sections: { section: string }[] };
    expect(code).toBe(0);
    expect(sections.length).toBeGreaterThan(1);
    for (const { section } of sections) {
      const place = findPage(pages, section)!;
      const text = tokensAt(place.page.text, place.anchor)!
        .map(({ raw }) => raw)
        .join('');
      expect(text.toLowerCase()).toMatch(/four_eyes[^]*quorum|quorum[^]*four_eyes/);
    }
    expect(await holdpointHere(['docs', '--search', 'xyzzy'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'error: no section has all of these words: xyzzy; search with fewer words\n',
    });
  });

  it('completes the names of pages', async () => {
    const { stdout } = await holdpointHere(['complete', '--', 'docs', 'approvals/']);
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual([
      'nothing',
      'approvals/approver',
      'approvals/auditor',
      'approvals/on-call',
      'approvals/platform-engineer',
      '',
    ]);
  });

  it('has each page that a message of the product names', () => {
    const files = globSync('{src,packages}/**/*.{ts,svelte}', { cwd: root });
    const named = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [
        ...text.matchAll(/commandLine\([`']docs ([a-z][\w/#-]+)[`']\)/g),
        ...text.matchAll(/(?<=['"`;,:] ?.*)\b(docs\/[\w/-]+\.md(?:#[\w-]+)?)/g),
      ].map(([, name = '']) => ({ file, name }));
    });
    expect(named.length).toBeGreaterThan(4);
    const missing = named.filter(({ name }) => {
      const place = findPage(pages, name);
      if (place === null) return true;
      return place.anchor !== '' && tokensAt(place.page.text, place.anchor) === null;
    });
    expect(missing).toEqual([]);
  });
});

describe('docs on a terminal', () => {
  it('shows a long page in the pager, with colours, and prints a short one', async () => {
    const folder = await temporaryFolder();
    const pager = join(folder, 'pager');
    writeFileSync(pager, '#!/bin/sh\necho "PAGED"; cat\n', { mode: 0o700 });
    const long = await onTerminal(['docs', 'gate'], { PAGER: `${pager} -x` }).ended;
    expect(long.stdout).toContain('PAGED');
    expect(long.stdout).toContain('\u001B[1m');
    const short = await onTerminal(['docs', 'no_fake_slack'], { PAGER: pager }).ended;
    expect(short.stdout).not.toContain('PAGED');
    const plain = await onTerminal(['docs', 'gate'], { PAGER: pager, NO_COLOR: '1' }).ended;
    expect(plain.stdout).toBe(stripVTControlCharacters(plain.stdout));
  });

  it('prints the page without a pager program', async () => {
    const { code, stdout } = await onTerminal(['docs', 'gate'], { PAGER: '/nowhere/pager' }).ended;
    expect(code).toBe(0);
    expect(stripVTControlCharacters(stdout)).toContain('Hold calls of any agent');
  });

  it('pipes without a pager', async () => {
    const { stdout } = await holdpoint(['docs', 'gate'], { env: { PAGER: 'echo PAGED' } });
    expect(stdout.split('\n')[0]).toBe('Hold calls of any agent');
  });
});

describe('docs --open', () => {
  it('serves the pages until Ctrl-C', async () => {
    const running = startCommand(['docs', 'governance#defer', '--open', '--json']);
    const [line] = (
      await new Promise<Buffer>((resolve) => {
        running.child.stdout?.once('data', resolve);
      })
    )
      .toString()
      .split('\n');
    const { url } = JSON.parse(line!) as { url: string };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/governance#defer$/);
    expect((await fetch(url)).status).toBe(200);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuses an unknown page', async () => {
    expect(await holdpointHere(['docs', '../package.json', '--open'])).toMatchObject({ code: 3 });
  });
});
