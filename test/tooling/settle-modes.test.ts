import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { settleModes } from '../../scripts/build/settle-modes.ts';

it('package files get modes that no umask decides, and other files keep theirs', () => {
  const root = mkdtempSync(join(tmpdir(), 'modes-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const manifest = JSON.stringify({ files: ['bin', 'notes.md', '!bin/left'] });
  const files = {
    ...{ 'package.json': manifest, 'README.md': '', LICENSE: '', 'notes.md': '', '.env': '' },
    ...{ 'bin/run': '', 'bin/deep/text.js': '' },
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), text);
    chmodSync(join(root, name), name === 'bin/run' ? 0o700 : 0o600);
  }
  settleModes(root);
  const modes = Object.keys(files).map((name) => [
    name,
    (statSync(join(root, name)).mode & 0o777).toString(8),
  ]);
  expect(Object.fromEntries(modes)).toEqual({
    ...{ 'package.json': '644', 'README.md': '644', LICENSE: '644', 'notes.md': '644' },
    ...{ '.env': '600', 'bin/run': '755', 'bin/deep/text.js': '644' },
  });
});
