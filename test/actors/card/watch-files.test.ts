import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { watchFiles } from '../../../src/actors/card/watch-files.ts';

interface Reading {
  /** When the files of the folder were read, in epoch milliseconds. */
  since?: (folder: string) => number;
  mainSkill?: string;
}

/** Watches a folder with these files, as one that will be read in a minute unless said otherwise. */
async function watching(
  files: string[],
  { since = () => Date.now() + 60_000, mainSkill = 'SKILL.md' }: Reading,
) {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-watch-'));
  const link = `${folder}-link`;
  symlinkSync(folder, link);
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), 'x');
  }
  const changes = new Set<string>();
  const note = () => undefined;
  const watch = await watchFiles({
    directory: link,
    mainSkill,
    since: since(folder),
    onChange: (file) => void changes.add(file),
    log: { info: note, warn: note, error: note },
  });
  onTestFinished(async () => {
    await watch.close();
    rmSync(folder, { recursive: true });
    rmSync(link);
  });
  return {
    folder,
    /** Resolves once this file was reported. */
    told: (file: string) => vi.waitUntil(() => changes.has(file), { timeout: 10_000, interval: 5 }),
    changes,
  };
}

it('the watch reports files newer than the last reading, even when they were written before it began', async () => {
  const { told } = await watching(['SKILL.md'], { since: () => Date.now() - 60_000 });
  await told('SKILL.md');
});

it('the watch reports no file that was written in the millisecond in which the reading began', async () => {
  const millisecondOf = (path: string) => Math.floor(statSync(path).ctimeMs);
  const { told, changes, folder } = await watching(['SKILL.md'], {
    since: (folder) => {
      const read = millisecondOf(join(folder, 'SKILL.md'));
      const later = join(folder, 'service.yaml');
      do writeFileSync(later, 'x');
      while (millisecondOf(later) <= read);
      return read;
    },
  });
  await told('service.yaml');
  changes.delete('service.yaml');
  await vi.waitFor(
    () => {
      writeFileSync(join(folder, 'service.yaml'), String(Math.random()));
      expect(changes).toContain('service.yaml');
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(changes).not.toContain('SKILL.md');
});

it('the watch reports card files, and no other files next to them', async () => {
  const { folder, told, changes } = await watching(
    ['service.yaml', 'prompts/main.md', 'skills/a.md', 'skills/b/SKILL.md', 'skills/b/notes.md'],
    { mainSkill: './prompts/main.md' },
  );
  const write = (name: string) => writeFileSync(join(folder, name), String(Math.random()));
  // The first reported file shows that the watch has begun.
  await vi.waitFor(
    () => {
      write('service.yaml');
      expect(changes).toContain('service.yaml');
    },
    { timeout: 10_000, interval: 50 },
  );
  for (const name of ['other.md', 'prompts/x.md', 'skills/b/notes.md', 'skills/log.txt']) {
    write(name);
  }
  mkdirSync(join(folder, 'skills/c'));
  const written = ['prompts/main.md', 'skills/a.md', 'skills/b/SKILL.md', 'skills/c/SKILL.md'];
  for (const name of written) {
    write(name);
    await told(name);
  }
  expect([...changes].toSorted()).toEqual([...written, 'service.yaml'].toSorted());
  changes.clear();
  renameSync(join(folder, 'skills/a.md'), join(folder, 'skills/.a.md'));
  await told('skills/a.md');
  rmSync(join(folder, 'skills/c'), { recursive: true });
  await told('skills/c/SKILL.md');
  expect([...changes].toSorted()).toEqual(['skills/a.md', 'skills/c/SKILL.md']);
});
