import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readConfigText, writeConfigText } from '../../../src/actors/workspace/config-file.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const before = 'agent_id: till\n';

function agentFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'service.yaml'), before);
  return folder;
}

/** Leaves what a save leaves that was killed a while ago. */
function killSave(folder: string): void {
  const draft = join(folder, 'service.yaml.saving');
  writeFileSync(draft, 'half');
  utimesSync(draft, new Date(), new Date(Date.now() - 60_000));
}

/** Has something happen when the next save has written its draft; returns what undoes that. */
async function onNextDraft(folder: string, happen: () => void): Promise<() => void> {
  const handle = await open(join(folder, 'service.yaml'));
  await handle.close();
  const files = Object.getPrototypeOf(handle) as FileHandle;
  const sync = vi.spyOn(files, 'sync').mockImplementationOnce(async () => happen());
  return () => sync.mockRestore();
}

async function saveAll(folder: string, contents: readonly string[]) {
  const { etag } = await readConfigText(folder);
  const saves = contents.map((content) => writeConfigText(folder, { content, etag }));
  return Promise.allSettled(saves);
}

describe('concurrent saves of one file', () => {
  it.each([
    ['without an earlier one', () => undefined],
    ['after a killed one', killSave],
  ])('write one of them, complete, and report it to the others, %s', async (_, prepare) => {
    const folder = agentFolder();
    prepare(folder);
    const contents = Array.from({ length: 24 }, (__, index) => `${before}# ${index}\n`);
    const ends = await saveAll(folder, contents);
    const written = ends.filter((end) => end.status === 'fulfilled' && end.value.isWritten);
    const now = readFileSync(join(folder, 'service.yaml'), 'utf8');
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(written).toHaveLength(1);
    expect(contents).toContain(now);
    expect(ends).toEqual(
      ends.map(() => ({
        status: 'fulfilled',
        value: expect.objectContaining({ content: now }),
      })),
    );
    expect(readdirSync(folder)).toEqual(['service.yaml']);
  });
});

it('a save that another one overtook during a delay waits for it, and writes nothing', async () => {
  const folder = agentFolder();
  const path = join(folder, 'service.yaml');
  const draft = `${path}.saving`;
  const other = `${before}# of the other\n`;
  const { etag } = await readConfigText(folder);
  const restore = await onNextDraft(folder, () => {
    rmSync(draft);
    writeFileSync(draft, other);
    setTimeout(() => renameSync(draft, path), 60);
  });
  const saved = await writeConfigText(folder, { content: `${before}# late\n`, etag });
  restore();
  expect(saved).toEqual({
    ...{ path, content: other, isWritten: false },
    etag: (await readConfigText(folder)).etag,
  });
  expect(readFileSync(path, 'utf8')).toBe(other);
  expect(readdirSync(folder)).toEqual(['service.yaml']);
});

it('a save whose draft was mistaken for a killed one starts again', async () => {
  const folder = agentFolder();
  const draft = join(folder, 'service.yaml.saving');
  const { etag } = await readConfigText(folder);
  const restore = await onNextDraft(folder, () => rmSync(draft));
  const content = `${before}# mine\n`;
  const saved = await writeConfigText(folder, { content, etag });
  restore();
  expect(saved).toMatchObject({ content, isWritten: true });
  expect(readFileSync(join(folder, 'service.yaml'), 'utf8')).toBe(content);
  expect(readdirSync(folder)).toEqual(['service.yaml']);
});
