import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { differingFiles } from '../../scripts/reproduce/differing-files.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'differing-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function packed(name: string, files: Record<string, string>, mode = 0o644): Promise<string> {
  const from = join(folder, name, 'package');
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(from, file, '..'), { recursive: true });
    writeFileSync(join(from, file), text);
    chmodSync(join(from, file), mode);
  }
  const file = join(folder, `${name}.tgz`);
  const words = ['-czf', file, '-C', join(folder, name), 'package'];
  expect((await runCommand('tar', words)).status).toBe(0);
  return file;
}

function comparison(): string {
  return mkdtempSync(join(folder, 'unpacked-'));
}

it('the files of two packages that differ in content or mode, or are missing in one, are named', async () => {
  const one = await packed('one', { 'dist/a.js': 'a', 'dist/b.js': 'b', 'c.md': 'c' });
  const other = await packed('other', { 'dist/a.js': 'a', 'dist/b.js': 'B', 'd.md': 'd' });
  expect(differingFiles(one, other, comparison())).toEqual([
    'package/c.md',
    'package/d.md',
    'package/dist/b.js',
  ]);
  const runnable = await packed(
    'runnable',
    { 'dist/a.js': 'a', 'dist/b.js': 'b', 'c.md': 'c' },
    0o755,
  );
  expect(differingFiles(one, runnable, comparison())).toHaveLength(3);
  expect(differingFiles(one, one, comparison())).toEqual([]);
});
