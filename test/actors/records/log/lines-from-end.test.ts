import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { linesFromEnd } from '../../../../src/actors/records/log/lines-from-end.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

const block = 64 * 1024;
const limit = 4 * 1024 * 1024;

/** The lines of a file of this text from its end on, each as its length or itself, with where it ends. */
async function found(text: string, size = Buffer.byteLength(text)) {
  const path = join(temporaryFolder(), 'audit.ndjson');
  writeFileSync(path, text);
  const handle = await open(path);
  onTestFinished(() => handle.close());
  const lines = await Array.fromAsync(linesFromEnd(handle, size));
  return lines.map(({ bytes, end }) => {
    const line = Buffer.from(bytes).toString();
    return [line.length > 20 ? line.length : line, end];
  });
}

describe('linesFromEnd', () => {
  it.each<[string, string, unknown[]]>([
    ['none of an empty file', '', []],
    ['none of an unfinished line', 'torn', []],
    ['an empty line', '\n', [['', 1]]],
    [
      'empty lines',
      '\n\n',
      [
        ['', 2],
        ['', 1],
      ],
    ],
    [
      'each line with the place after its newline',
      'one\ntwö\n\nfour\ntorn',
      [
        ['four', 15],
        ['', 10],
        ['twö', 9],
        ['one', 4],
      ],
    ],
  ])('yields %s', async (_, text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  it.each([block - 1, block, block + 1, 2 * block - 1, 2 * block, 3 * block])(
    'yields a line of %i bytes whole, and its neighbours',
    async (size) => {
      expect(await found(`first\n${'x'.repeat(size)}\nlast\ntorn`)).toEqual([
        ['last', size + 12],
        [size, size + 7],
        ['first', 6],
      ]);
    },
  );

  it.each([
    ['at the beginning', '', 'last\n'],
    ['in the middle', 'first\n', 'last\n'],
    ['at the end', 'first\n', ''],
  ])('yields a line of 4 MiB and skips a longer one: %s', async (_, before, after) => {
    const around = (size: number) => [
      ...(after === '' ? [] : [['last', before.length + size + 1 + after.length]]),
      ...(size > limit ? [] : [[size, before.length + size + 1]]),
      ...(before === '' ? [] : [['first', before.length]]),
    ];
    for (const size of [limit, limit + 1, limit + block]) {
      expect(await found(`${before}${'x'.repeat(size)}\n${after}`)).toEqual(around(size));
    }
  });

  it('reads only up to the given size', async () => {
    expect(await found('one\ntwo\nthree\n', 8)).toEqual([
      ['two', 8],
      ['one', 4],
    ]);
  });

  it('reads the rest of a file that became shorter', async () => {
    expect(await found('one\ntwo\n', 9)).toEqual([
      ['two', 8],
      ['one', 4],
    ]);
  });
});
