import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  AuditLogError,
  keyRotation,
  lastSignedLine,
} from '../../../../src/actors/records/log/audit.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { openFilesIn } from '../../../helpers/open-files.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { events, logOf, testKey } from './log-of.ts';

const older = testKey('old', 1);
const own = testKey('new', 2);
const keys = { signer: own.signer, published: { keys: [own.publicKey, older.publicKey] } };
const parsed = (line: string) => JSON.parse(line) as JsonObject;

function logIn(folder: string, ...texts: string[]): string[] {
  return texts.map((text, index) => {
    const path = join(folder, `${index}.ndjson`);
    writeFileSync(path, text);
    return path;
  });
}

describe('the last signed line of a log', () => {
  const first = logOf(events(2), undefined, older.signer);
  const second = logOf(events(2), first.head, own.signer);
  const unsigned = logOf(events(2), second.head);

  it('is searched from the end, over files, invalid lines and unsigned lines', async () => {
    const folder = temporaryFolder();
    const paths = logIn(
      folder,
      first.lines.join(''),
      `${second.lines.join('')}nonsense\n"sig"\n`,
      unsigned.lines.join(''),
      '',
    );
    expect(await lastSignedLine(paths)).toStrictEqual(parsed(second.lines[1]!));
    expect(await lastSignedLine(paths.slice(0, 1))).toStrictEqual(parsed(first.lines[1]!));
    expect(await lastSignedLine(paths.slice(2))).toBeNull();
    expect(await lastSignedLine([])).toBeNull();
    expect(openFilesIn(folder)).toEqual([]);
  });

  it('is in an existing file', async () => {
    const folder = temporaryFolder();
    const paths = [...logIn(folder, first.lines.join('')), join(folder, 'gone.ndjson')];
    expect(await lastSignedLine(paths)).toStrictEqual(parsed(first.lines[1]!));
  });

  it('is unknown when a file cannot be read', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'audit.ndjson');
    mkdirSync(path);
    writeFileSync(join(folder, 'file'), '');
    const below = join(folder, 'file', 'audit.ndjson');
    for (const [unreadable, code] of [
      [path, 'EISDIR'],
      [below, 'ENOTDIR'],
    ] as const) {
      const reading = lastSignedLine([...logIn(folder, first.lines.join('')), unreadable]);
      await expect(reading).rejects.toBeInstanceOf(AuditLogError);
      await expect(reading).rejects.toMatchObject({ path: unreadable, cause: { code } });
    }
    expect(openFilesIn(folder)).toEqual([]);
  });
});

describe('the rotation of a key', () => {
  it('names both keys, unless either is missing', async () => {
    const [line] = logOf(events(1), undefined, older.signer).lines.map(parsed);
    expect(await keyRotation(line!, keys)).toStrictEqual({
      event: 'audit_key_rotated',
      fields: { old_kid: 'old', new_kid: 'new' },
    });
    expect(await keyRotation(line!, { ...keys, signer: null })).toBeNull();
    expect(await keyRotation(null, keys)).toBeNull();
  });

  it('has an empty name when the last signed line has none', async () => {
    for (const line of [{ sig: 'x' }, { sig: 'x', kid: 7 }]) {
      expect(await keyRotation(line, keys)).toStrictEqual({
        event: 'audit_key_rotated',
        fields: { old_kid: '', new_kid: 'new' },
      });
    }
  });

  it.each<[string, (line: JsonObject) => JsonObject]>([
    ['was changed', (line) => ({ ...line, seq: 9 })],
    ['has no valid signature', (line) => ({ ...line, sig: 'c2ln' })],
  ])('is refused when the last line of the same key %s', async (_, change) => {
    const line = parsed(logOf(events(1), undefined, own.signer).lines[0]!);
    expect(await keyRotation(line, keys)).toBeNull();
    await expect(keyRotation(change(line), keys)).rejects.toMatchObject({
      code: 'audit_keys_invalid',
    });
  });
});
