import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { HeadNote } from '../../../../src/actors/records/sqlite/head-note.ts';
import type { AuditHead } from '../../../../src/actors/records/store/audit-head.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

let log: string;
beforeEach(() => {
  log = join(temporaryFolder(), 'audit.ndjson');
});

function aNote(path = log): HeadNote {
  const note = new HeadNote(path);
  onTestFinished(() => note.close());
  return note;
}

/** Where a log of lines of a hundred bytes stands. */
function headAt(events: number, first = 1): AuditHead {
  const hash = `hash of ${events}`;
  const bytes = (events - first + 1) * 100;
  return { events, first, hash, bytes, checkpointed: 0, opened: '', keptFrom: 1, finishing: null };
}

const announced = { first: 1, from: 200, hash: 'hash of 2', to: 500, events: 5 };

describe('the note beside a log', () => {
  it('says from where on lines are not committed, for as long as they are not', () => {
    const note = aNote();
    note.tell(headAt(2));
    note.announce(headAt(2), headAt(5));
    const during = note.uncommittedFrom(headAt(2), 500);
    note.tell(headAt(5));
    expect([during, note.uncommittedFrom(headAt(2), 500)]).toEqual([announced, null]);
  });

  it('speaks for a file that has a part of the lines, and for none that has more or is another', () => {
    const note = aNote();
    note.tell(headAt(2));
    note.announce(headAt(2), headAt(5));
    expect([200, 350, 500, 501].map((size) => note.uncommittedFrom(headAt(2), size))).toEqual([
      announced,
      announced,
      announced,
      null,
    ]);
    expect(note.uncommittedFrom(headAt(2, 2), 100)).toBeNull();
  });

  it('keeps what was told when another process announces more', () => {
    aNote().tell(headAt(2));
    aNote().announce(headAt(2), headAt(5));
    expect(aNote().uncommittedFrom(headAt(2), 500)).toEqual(announced);
  });

  it('knows of nothing as long as it is not whole', () => {
    expect(aNote().uncommittedFrom(headAt(2), 500)).toBeNull();
    aNote().announce(headAt(2), headAt(5));
    expect(aNote().uncommittedFrom(headAt(2), 500)).toBeNull();
    for (const text of ['', 'nonsense\n2\n', '{"first":1}\n2\n', '{}\n']) {
      writeFileSync(`${log}.head`, text);
      expect(aNote().uncommittedFrom(headAt(2), 500)).toBeNull();
    }
  });

  it('is as private as the log, and as long however much it says', () => {
    const note = aNote();
    note.announce(headAt(2_000_000), headAt(5_000_000));
    note.tell(headAt(5_000_000));
    note.announce(headAt(2), headAt(5));
    note.tell(headAt(2));
    const { mode, size } = statSync(`${log}.head`);
    expect([mode & 0o777, size]).toEqual([0o600, 288]);
    expect(
      readFileSync(`${log}.head`, 'utf8')
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual([JSON.stringify(announced), '2', '']);
  });

  it('fails an announcement that the disk does not take, and no commit', () => {
    const note = aNote(join(log, 'nowhere', 'audit.ndjson'));
    expect(() => note.tell(headAt(2))).not.toThrow();
    expect(() => note.announce(headAt(2), headAt(5))).toThrow('ENOENT');
  });
});
