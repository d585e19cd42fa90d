import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { cleanUp, holdpoint } from '../cli/holdpoint.ts';
import { fencesOf, readPage } from './fences.ts';

const page = readPage('docs/writing-tools.md');
const [, table = ''] = /## When it does not work\n\n(.*)$/s.exec(page) ?? [];

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notes-'));
  for (const { file, text } of fencesOf(page)) {
    if (file !== null) write(file, text);
  }
  return () => rmSync(folder, { recursive: true });
});

afterAll(cleanUp);

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** What `validate` says of the agent, which the page must say as well. */
async function said(): Promise<string> {
  const { stderr } = await holdpoint(['validate', '--dir', folder]);
  return stderr;
}

describe('the errors in the guide to tools', () => {
  it('are absent from the initial agent', async () => {
    const { code, stderr } = await holdpoint(['validate', '--dir', folder]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    [
      'tool add_note has no script and is read as text only',
      () => rmSync(join(folder, 'scripts/add_note.py')),
    ],
    [
      'tool add_note has several scripts (add_note.py, add_note.sh); keep one',
      () => write('scripts/add_note.sh', 'exit 0\n'),
    ],
    [
      'count_notes.sh has the line ends of Windows',
      () => write('scripts/count_notes.sh', 'set -eu\r\necho 1\r\n'),
    ],
  ])('are the messages of the command: %s', async (message, spoil) => {
    spoil();
    expect(table).toContain(message);
    expect(await said()).toContain(message);
  });

  it('include the text for an invalid call', async () => {
    const words = ['policy', 'explain', 'add_note', '--dir', folder, '--args', '{}'];
    const { stdout } = await holdpoint(words);
    expect(table).toContain('add_note: argument text is missing');
    expect(stdout).toContain('add_note: argument text is missing');
  });
});
