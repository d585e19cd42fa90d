import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { agentFolder } from '../skills/agent-folder.ts';
import { aBuiltin } from './a-builtin.ts';
import { aRun } from './isolated-script.ts';

const canary = 'canary-of-the-operator';

/** What no tool may see, each with the canary in it. */
const secrets = [
  '.service/runtime.token',
  '.service/audit.ndjson',
  '.SERVICE/runtime.token',
  '.env',
  '.env.local',
  'sub/.env',
  'service.yaml',
  'sub/service.yaml',
  'slack-config.yaml',
  'data/tasks.db',
  'data/tasks.db-wal',
  'server.key',
  'secrets/list.csv',
  'api-token.txt',
  '.git/config',
  '.ssh/id_ed25519',
];

/** What the agent is made of. */
const code = [
  'SKILL.md',
  'sub/SKILL.md',
  'AGENT.md',
  'skills/pay/SKILL.md',
  'skills/new.md',
  'scripts/pay.sh',
  'scripts/lib/x.py',
  'lib/main.py',
  'node_modules/x/index.js',
];

function filled(names: readonly string[], more: Record<string, string> = {}): string {
  return agentFolder({ ...Object.fromEntries(names.map((name) => [name, canary])), ...more });
}

async function call(directory: string, name: string, args: JsonObject): Promise<string> {
  const [top = ''] = String(args['path'] ?? '').split('/');
  const tool = await aBuiltin(name, directory, {}, [...readdirSync(directory), top]);
  return tool.run(args, aRun());
}

/** How each tool that takes a path may be asked for one. */
const calls: [name: string, args: (path: string) => JsonObject][] = [
  ['file_read', (path) => ({ path })],
  ['file_write', (path) => ({ path, content: 'x', overwrite: true })],
  ['file_edit', (path) => ({ path, old_text: canary, new_text: 'x' })],
];

const escape = 'argument path leads out of the folder of the agent, or nowhere';

describe.each(calls.slice(1))('%s, which writes,', (name, args) => {
  it('writes only below egress.writable', async () => {
    const directory = agentFolder({
      'work/a.txt': canary,
      'package.json': canary,
      'b.txt': canary,
    });
    symlinkSync('../b.txt', join(directory, 'work', 'b.txt'));
    const paths = [
      'package.json',
      'b.txt',
      'work/b.txt',
      'work/../b.txt',
      '.envrc',
      'Makefile',
      'x/y',
    ];
    const refused = async (writable: string[], path: string) => {
      const tool = await aBuiltin(name, directory, {}, writable);
      return tool.run(args(path), aRun()).catch((error: unknown) => (error as Error).message);
    };
    const outside = `${name}: argument path is outside the folders that tools can write; `;
    for (const path of paths) {
      expect(await refused(['work', 'out'], path)).toBe(`${outside}write below work, out`);
      expect(await refused([], path)).toBe(`${outside}egress.writable names none`);
    }
    expect(readFileSync(join(directory, 'b.txt'), 'utf8')).toBe(canary);
    expect(await refused(['work'], 'work/a.txt')).toMatch(/^(replaced|changed)/);
  });
});

describe.each(calls)('%s', (name, args) => {
  it.each(secrets)('is refused %s, and so is a link to it', async (path) => {
    const directory = filled([path]);
    symlinkSync(join(directory, path), join(directory, 'plain.txt'));
    const spellings = [path, `./x/../${path}`, join(directory, path), 'plain.txt'];
    for (const spelling of spellings) {
      const refusal = call(directory, name, args(spelling));
      await expect(refusal).rejects.toThrow(
        /^file_(read|write|edit): argument path (is named like a secret|is configuration of the agent|is state of the agent), which tools cannot read$/,
      );
    }
    expect(readFileSync(join(directory, path), 'utf8')).toBe(canary);
  });

  it('never leaves the folder, in any spelling of a path or a link', async () => {
    const outside = agentFolder({ 'theirs.txt': canary });
    const directory = agentFolder({ 'in/x.txt': 'x' });
    symlinkSync(outside, join(directory, 'folder'));
    symlinkSync(join(outside, 'theirs.txt'), join(directory, 'file.txt'));
    symlinkSync(join(outside, 'new.txt'), join(directory, 'dangling.txt'));
    symlinkSync('folder/theirs.txt', join(directory, 'twice.txt'));
    symlinkSync('/proc/self', join(directory, 'proc'));
    const paths = [
      '../x',
      '..',
      join(outside, 'theirs.txt'),
      '/etc/passwd',
      'folder/theirs.txt',
      'folder/new.txt',
      'file.txt',
      'dangling.txt',
      'twice.txt',
      'in/../../x',
      'proc/environ',
      '/proc/self/environ',
      `${directory}-beside/x`,
    ];
    for (const path of paths) {
      await expect(call(directory, name, args(path))).rejects.toEqual(
        new ToolError(`${name}: ${escape}`),
      );
    }
    expect(readdirSync(outside)).toEqual(['theirs.txt']);
    expect(readFileSync(join(outside, 'theirs.txt'), 'utf8')).toBe(canary);
  });

  it('follows a link that stays in the folder', async () => {
    const directory = agentFolder({ 'data/notes.txt': canary });
    symlinkSync('data', join(directory, 'short'));
    await call(directory, name, args('short/notes.txt'));
  });

  it('opens no pipe, device or folder', async () => {
    const directory = agentFolder({ 'folder/x': 'x' });
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    await expect(call(directory, name, args('pipe'))).rejects.toThrow(
      `${name}: argument path cannot be used: it cannot be used (no file)`,
    );
    await expect(call(directory, name, args('folder'))).rejects.toThrow(
      `${name}: argument path cannot be used: it is a folder`,
    );
    await expect(call(directory, name, args('.'))).rejects.toThrow(
      /: argument path (cannot be used: it is a folder|is outside the folders that tools can write)/,
    );
    await expect(call(directory, name, args('a\0b'))).rejects.toThrow(
      `${name}: argument path is no path`,
    );
  });
});

describe.each(calls.slice(1))('%s', (name, args) => {
  it.each(code)('does not write %s, which is part of the agent', async (path) => {
    const directory = filled([path]);
    await expect(call(directory, name, args(path))).rejects.toEqual(
      new ToolError(`${name}: argument path is part of the agent, which tools cannot write`),
    );
    expect(readFileSync(join(directory, path), 'utf8')).toBe(canary);
  });

  it('writes a complete file, keeps the permissions and leaves no draft', async () => {
    const directory = agentFolder({ 'notes.txt': canary });
    chmodSync(join(directory, 'notes.txt'), 0o640);
    await call(directory, name, args('notes.txt'));
    expect(readFileSync(join(directory, 'notes.txt'), 'utf8')).toBe('x');
    expect(statSync(join(directory, 'notes.txt')).mode & 0o777).toBe(0o640);
    expect(readdirSync(directory)).toEqual(['notes.txt']);
  });
});

function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

describe('a folder that becomes a link while a tool runs', () => {
  it('leads no tool out of the folder, in any number of attempts', async () => {
    const outside = agentFolder({ 'x.txt': canary });
    const directory = agentFolder({ 'real/x.txt': 'mine' });
    symlinkSync(outside, join(directory, 'evil'));
    const swap = () => {
      renameSync(join(directory, 'real'), join(directory, 'spare'));
      // The tool may make the folder that is missing for a moment.
      while (!isMoved(join(directory, 'evil'), join(directory, 'real'))) {
        rmSync(join(directory, 'real'), { recursive: true, force: true });
      }
    };
    const swapBack = () => {
      renameSync(join(directory, 'real'), join(directory, 'evil'));
      renameSync(join(directory, 'spare'), join(directory, 'real'));
    };
    const outcomes = new Set<string>();
    for (let round = 0; round < 200; round += 1) {
      const write = call(directory, 'file_write', {
        path: 'real/x.txt',
        content: 'mine',
        overwrite: true,
      });
      const read = call(directory, 'file_read', { path: 'real/x.txt' });
      // The longer it waits, the further into the call the link appears.
      for (let turn = 0; turn < round % 20; turn += 1) await new Promise(setImmediate);
      swap();
      for (const end of await Promise.allSettled([write, read])) {
        outcomes.add(end.status === 'fulfilled' ? end.value : String(end.reason.message));
      }
      swapBack();
    }
    expect([...outcomes].filter((each) => each.includes(canary))).toEqual([]);
    expect(readFileSync(join(outside, 'x.txt'), 'utf8')).toBe(canary);
    expect(readdirSync(outside)).toEqual(['x.txt']);
  });
});

describe('file_read', () => {
  it('returns lines unchanged, and explains how to continue', async () => {
    const directory = agentFolder({ 'a.txt': 'one\r\ntwo\nthree', empty: '' });
    const read = (args: JsonObject) => call(directory, 'file_read', { path: 'a.txt', ...args });
    expect(await read({})).toBe('one\r\ntwo\nthree');
    expect(await read({ offset: 2 })).toBe('two\nthree');
    expect(await read({ limit: 1 })).toBe('one\r\n[lines 1 to 1 of 3; continue with offset 2]');
    expect(await read({ path: 'empty' })).toBe('');
    await expect(read({ offset: 4 })).rejects.toThrow(
      'file_read: the file has 3 lines; ask for an earlier one',
    );
    await expect(read({ path: 'b.txt' })).rejects.toThrow(
      'file_read: argument path cannot be used: it does not exist',
    );
  });

  it('reads code files, and nothing that is not text or too large', async () => {
    const directory = agentFolder({ 'scripts/pay.sh': 'echo paid', 'a.bin': 'a\0b' });
    writeFileSync(join(directory, 'latin.txt'), Buffer.from([0xe4, 0x62]));
    writeFileSync(join(directory, 'large.txt'), 'x'.repeat(10 * 1024 * 1024 + 1));
    writeFileSync(join(directory, 'wide.txt'), 'x'.repeat(300 * 1024));
    const read = (path: string) => call(directory, 'file_read', { path });
    expect(await read('scripts/pay.sh')).toBe('echo paid');
    const problem = 'file_read: the file at argument path is';
    await expect(read('a.bin')).rejects.toThrow(`${problem} no text in UTF-8`);
    await expect(read('latin.txt')).rejects.toThrow(`${problem} no text in UTF-8`);
    await expect(read('large.txt')).rejects.toThrow(`${problem} larger than 10 MiB`);
    const wide = await read('wide.txt');
    expect([wide.length, wide.slice(-24)]).toEqual([256 * 1024 + 25, '[line 1 of 1 is cut off]']);
  });
});

describe('a file of many lines', () => {
  it('does not block the agent while lines of it are read', async () => {
    const directory = agentFolder({});
    const text = '\n'.repeat(10 * 1024 * 1024);
    writeFileSync(join(directory, 'a.txt'), text);
    const began = performance.now();
    expect(text.split(/(?<=\n)/)).toHaveLength(text.length);
    const cut = performance.now() - began;
    const lag = monitorEventLoopDelay({ resolution: 5 });
    lag.enable();
    const end = await call(directory, 'file_read', { path: 'a.txt', offset: 10_485_760 });
    lag.disable();
    expect(end).toBe('\n');
    expect(lag.max / 1e6).toBeLessThan(cut / 2);
  });
});

describe('file_write', () => {
  it('creates missing folders, and replaces a file only on request', async () => {
    const directory = agentFolder({});
    const write = (args: JsonObject) =>
      call(directory, 'file_write', { path: 'notes/2026/a.md', ...args });
    expect(await write({ content: 'ü' })).toBe('wrote notes/2026/a.md (2 bytes)');
    await expect(write({ content: 'b' })).rejects.toThrow(
      'file_write: there is a file at argument path already; set overwrite to true to replace it',
    );
    expect(await write({ content: 'b', overwrite: true })).toBe(
      'replaced notes/2026/a.md (1 bytes)',
    );
    expect(readFileSync(join(directory, 'notes/2026/a.md'), 'utf8')).toBe('b');
  });

  it('reports an obstacle without a path of this machine', async () => {
    const directory = agentFolder({ file: '' });
    mkdirSync(join(directory, 'folder'));
    await expect(call(directory, 'file_write', { path: 'file/x', content: '' })).rejects.toThrow(
      'file_write: argument path leads out of the folder of the agent, or nowhere',
    );
  });
});

describe('file_edit', () => {
  const args = { path: 'a.txt', old_text: 'a.b', new_text: '$&' };
  const edit = (directory: string, more: JsonObject = {}) =>
    call(directory, 'file_edit', { ...args, ...more });

  it('changes the exact place, letter for letter', async () => {
    const directory = agentFolder({ 'a.txt': '\ufeffaxb a.b\r\n' });
    expect(await edit(directory)).toBe('changed 1 place in a.txt');
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('\ufeffaxb $&\r\n');
  });

  it('refuses a string that is missing or occurs more than once', async () => {
    const directory = agentFolder({ 'a.txt': 'a.b a.b' });
    await expect(edit(directory, { old_text: 'c' })).rejects.toThrow(
      'file_edit: argument old_text does not stand in the file; read it again',
    );
    await expect(edit(directory)).rejects.toThrow(
      'file_edit: argument old_text occurs in the file 2 times; make it longer or set replace_all',
    );
    expect(await edit(directory, { replace_all: true })).toBe('changed 2 places in a.txt');
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('$& $&');
  });

  it('does not grow a file beyond the readable size', async () => {
    const directory = agentFolder({ 'a.txt': 'a'.repeat(200_000) });
    const more = { old_text: 'a', new_text: 'b'.repeat(100), replace_all: true };
    await expect(edit(directory, more)).rejects.toThrow(
      'file_edit: the file would be larger than 10 MiB',
    );
  });

  it('changes only as many places as it can without blocking', async () => {
    const directory = agentFolder({ 'a.txt': 'a'.repeat(1_000_001) });
    await expect(edit(directory, { old_text: 'a', replace_all: true })).rejects.toThrow(
      'file_edit: argument old_text occurs in the file more than 1000000 times; make it longer',
    );
  });

  it('loses none of many concurrent edits', async () => {
    const directory = agentFolder({ 'a.txt': '' });
    writeFileSync(
      join(directory, 'a.txt'),
      Array.from({ length: 50 }, (_, at) => `<${at}>`).join(''),
    );
    await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        edit(directory, { old_text: `<${at}>`, new_text: `[${at}]` }),
      ),
    );
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe(
      Array.from({ length: 50 }, (_, at) => `[${at}]`).join(''),
    );
  });
});

describe.each([
  ['glob_search', { pattern: '**/*' }, '[no file matches]'],
  ['grep_search', { pattern: 'canary' }, '[no line matches]'],
])('%s', (name, args, nothing) => {
  it('shows nothing of secrets, of files outside, or of links', async () => {
    const outside = agentFolder({ 'theirs.txt': canary });
    const directory = filled(secrets);
    symlinkSync(outside, join(directory, 'folder'));
    symlinkSync(join(outside, 'theirs.txt'), join(directory, 'file.txt'));
    symlinkSync('.env', join(directory, 'env.txt'));
    expect(await call(directory, name, args)).toBe(nothing);
    for (const pattern of ['.*/*', '**/.*', '**/.*/*', '{,.}*/**']) {
      if (name === 'glob_search') expect(await call(directory, name, { pattern })).toBe(nothing);
    }
    const problems = [
      ['..', escape],
      ['folder', escape],
      [outside, escape],
      ['.service', 'argument path is named like a secret, which tools cannot read'],
      ['nowhere', 'argument path cannot be used: it does not exist'],
    ];
    for (const [path = '', problem] of problems) {
      await expect(call(directory, name, { ...args, path })).rejects.toEqual(
        new ToolError(`${name}: ${problem}`),
      );
    }
  });
});

const files = {
  'a.md': 'first\nOrder A-1042',
  'data/orders.csv': 'id\nA-1042\n',
  'data/deep/x.csv': '',
  'scripts/pay.sh': 'echo A-1042',
  'node_modules/x/index.js': 'A-1042',
  '.hidden/x.csv': 'A-1042',
  'b.bin': 'A-1042\0',
  'odd\nname.csv': 'A-1042',
};

describe('glob_search', () => {
  it.each<[JsonObject, string]>([
    [{ pattern: '**/*.csv' }, 'data/deep/x.csv\ndata/orders.csv'],
    [{ pattern: './data/*.csv' }, 'data/orders.csv'],
    [{ pattern: '*.csv', path: 'data' }, 'data/orders.csv'],
    [{ pattern: '**/*.{md,sh}' }, 'a.md\nscripts/pay.sh'],
    [{ pattern: '.hidden/*' }, '.hidden/x.csv'],
    [{ pattern: '**', limit: 2 }, 'a.md\nb.bin\n[there are more; narrow it]'],
    [{ pattern: '*.txt' }, '[no file matches]'],
  ])('finds files by %j', async (args, expected) => {
    expect(await call(agentFolder(files), 'glob_search', args)).toBe(expected);
  });
});

describe('grep_search', () => {
  it.each<[JsonObject, string]>([
    [
      { pattern: 'A-\\d+$', glob: '**/*.{md,csv}' },
      'a.md:2: Order A-1042\ndata/orders.csv:2: A-1042',
    ],
    [{ pattern: 'order', ignore_case: true }, 'a.md:2: Order A-1042'],
    [{ pattern: 'A-1042', path: 'data' }, 'data/orders.csv:2: A-1042'],
    [{ pattern: '.', glob: 'a.md', limit: 1 }, 'a.md:1: first\n[there are more; narrow it]'],
    [{ pattern: 'nowhere' }, '[no line matches]'],
  ])('finds lines by %j', async (args, expected) => {
    expect(await call(agentFolder(files), 'grep_search', args)).toBe(expected);
  });

  it('refuses an invalid RE2 pattern, and shows the beginning of a long line', async () => {
    const directory = agentFolder({ 'a.txt': 'x'.repeat(1_000) });
    await expect(call(directory, 'grep_search', { pattern: '(?=a)' })).rejects.toThrow(
      'grep_search: argument pattern is no RE2 pattern; there are no look-arounds and back-references in RE2',
    );
    expect(await call(directory, 'grep_search', { pattern: 'x' })).toBe(
      `a.txt:1: ${'x'.repeat(300)}…`,
    );
  });

  it('is fast on patterns that block other engines', async () => {
    const directory = agentFolder({ 'a.txt': `${'a'.repeat(5_000)}!` });
    expect(await call(directory, 'grep_search', { pattern: '(a+)+$' })).toBe('[no line matches]');
  });
});
