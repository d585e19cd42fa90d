import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { addToFolder, newFolder } from '../../../src/actors/workspace/new-folder.ts';

const hourAgo = new Date(Date.now() - 3_600_000);

function workspace(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-drafts-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function leave(folder: string, name: string, at: Date): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'service.yaml'), 'half');
  utimesSync(join(folder, name), at, at);
}

const fill = (draft: string) => writeFile(join(draft, 'service.yaml'), 'whole');

it.each([
  ['a new folder', (folder: string) => newFolder(join(folder, 'till'), fill), 'till'],
  [
    'an addition',
    (folder: string) => addToFolder(folder, { kept: [], last: 'service.yaml' }, fill),
    'service.yaml',
  ],
])('%s removes only drafts of killed processes', async (_, make, made) => {
  const folder = workspace();
  leave(folder, '.till.0123456789ab.draft', hourAgo);
  leave(folder, '.other.ba9876543210.draft', hourAgo);
  leave(folder, '.filled.0123456789ab.draft', new Date());
  leave(folder, '.mine.draft', hourAgo);
  leave(folder, 'till.0123456789ab.draft', hourAgo);
  symlinkSync(join(folder, '.mine.draft'), join(folder, '.link.0123456789ab.draft'));
  await make(folder);
  expect(readdirSync(folder).toSorted()).toEqual(
    [
      ...['.filled.0123456789ab.draft', '.link.0123456789ab.draft', '.mine.draft'],
      ...[made, 'till.0123456789ab.draft'],
    ].toSorted(),
  );
  expect(readdirSync(join(folder, '.mine.draft'))).toEqual(['service.yaml']);
});
