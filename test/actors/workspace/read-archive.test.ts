import { gzipSync } from 'node:zlib';
import Zip from 'jszip';
import { pack } from 'tar-stream';
import { expect, it } from 'vitest';
import { collectBytes } from '../../../src/actors/collect-bytes.ts';
import { readArchive } from '../../../src/actors/workspace/workspace.ts';

/** An entry of an archive; without content it has a type of its own. */
interface Entry {
  name: string;
  content?: string | Buffer;
  type?: 'symlink' | 'link' | 'character-device' | 'fifo' | 'directory';
}

const modes = { symlink: 0o120777, 'character-device': 0o020666, fifo: 0o010666 } as const;

async function zipOf(entries: readonly Entry[]): Promise<Buffer> {
  const zip = new Zip();
  for (const { name, content = '', type } of entries) {
    const mode = type === undefined ? 0o100644 : (modes[type as keyof typeof modes] ?? 0o100644);
    zip.file(name, content, {
      unixPermissions: mode,
      dir: type === 'directory',
      createFolders: false,
    });
  }
  return zip.generateAsync({ type: 'nodebuffer', platform: 'UNIX', compression: 'DEFLATE' });
}

async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, content = '', type } of entries) {
    if (type === undefined) tar.entry({ name }, content);
    else tar.entry({ name, type, linkname: '/etc/passwd' });
  }
  tar.finalize();
  return gzipSync(
    await collectBytes(tar as AsyncIterable<Uint8Array>, 2 ** 30, () => new Error('too long')),
  );
}

const forms = [
  ['zip', zipOf],
  ['tar.gz', tarOf],
] as const;

it.each(forms)('the files of a %s are read', async (_form, make) => {
  const files = await readArchive(
    await make([
      { name: 'notes/', type: 'directory' },
      { name: 'notes/SKILL.md', content: 'text' },
      { name: './notes/a/b.bin', content: Buffer.from([0, 255]) },
      { name: '__MACOSX/notes/._SKILL.md', content: 'x' },
      { name: 'notes/.git/config', content: 'x' },
    ]),
  );
  expect([...files]).toEqual([
    ['notes/SKILL.md', Buffer.from('text')],
    ['notes/a/b.bin', Buffer.from([0, 255])],
  ]);
});

it.each(
  forms.flatMap(
    ([form, make]) =>
      [
        [form, 'a way up', make, [{ name: '../x', content: 'x' }], /no path inside a folder/],
        [
          form,
          'a way up in the middle',
          make,
          [{ name: 'a/../../x', content: 'x' }],
          /no path inside a folder/,
        ],
        [
          form,
          'an absolute path',
          make,
          [{ name: '/etc/x', content: 'x' }],
          /no path inside a folder/,
        ],
        [
          form,
          'a path of Windows',
          make,
          [{ name: 'a\\..\\x', content: 'x' }],
          /no path inside a folder/,
        ],
        [
          form,
          'a control character',
          make,
          [{ name: 'a\u001b[2J', content: 'x' }],
          /no path inside a folder/,
        ],
        [
          form,
          'names that clash',
          make,
          [
            { name: 'a', content: 'x' },
            { name: 'A', content: 'y' },
          ],
          /A and a are one file on some systems/,
        ],
        [
          form,
          'deep folders',
          make,
          [{ name: `${'a/'.repeat(13)}b`, content: 'x' }],
          /deeper than 12 levels/,
        ],
        [
          form,
          'many files',
          make,
          Array.from({ length: 2_001 }, (_, at) => ({ name: `${at}`, content: '' })),
          /more than 2000 files/,
        ],
        [
          form,
          'a bomb',
          make,
          [{ name: 'a', content: Buffer.alloc(33 * 1024 * 1024) }],
          /more than 32 MiB/,
        ],
        [
          form,
          'small bombs',
          make,
          Array.from({ length: 5 }, (_, at) => ({
            name: `${at}`,
            content: Buffer.alloc(8 * 1024 * 1024),
          })),
          /more than 32 MiB/,
        ],
      ] as const,
  ),
)('a %s with %s is refused', async (...row) => {
  const [, , make, entries, sentence] = row;
  await expect(readArchive(await make(entries as readonly Entry[]))).rejects.toMatchObject({
    code: 'skill_unusable',
    message: expect.stringMatching(sentence),
  });
});

it.each(forms)('a %s in which a file is also a folder is refused', async (_form, make) => {
  const [file, inside] = [
    { name: 'a', content: 'x' },
    { name: 'a/b', content: 'y' },
  ];
  await expect(readArchive(await make([file, inside]))).rejects.toThrow('a/b is below a file');
  await expect(readArchive(await make([inside, file]))).rejects.toThrow('a is a file and a folder');
  const long = { name: 'é'.repeat(120), content: '' };
  await expect(readArchive(await make([long]))).rejects.toThrow('no path inside a folder');
});

it.each(forms)('no link and no device of a %s is read', async (_form, make) => {
  const types = ['symlink', 'character-device', 'fifo'] as const;
  const entries = types.map((type) => ({ name: type, content: '/etc/passwd', type }));
  expect([...(await readArchive(await make(entries)))]).toEqual(types.map((type) => [type, null]));
});

it('no hard link of a tar is read', async () => {
  expect([...(await readArchive(await tarOf([{ name: 'a', type: 'link' }])))]).toEqual([
    ['a', null],
  ]);
});

it.each(forms)('a %s that is cut is refused', async (_form, make) => {
  const whole = await make([{ name: 'a', content: Buffer.from('x'.repeat(10_000)) }]);
  await expect(readArchive(whole.subarray(0, whole.length - 30))).rejects.toThrow(
    /the archive is damaged/,
  );
});

it('a zip with wrong sizes is refused', async () => {
  const whole = await zipOf([{ name: 'a', content: Buffer.alloc(40 * 1024 * 1024) }]);
  // The size of the content in the directory of the archive.
  const at = whole.indexOf(Buffer.from('PK\u0001\u0002', 'latin1')) + 24;
  whole.writeUInt32LE(10, at);
  await expect(readArchive(whole)).rejects.toThrow(/more than 32 MiB|damaged/);
});

it('a zip with two entries of one name is refused', async () => {
  const whole = await zipOf([
    { name: 'file-one', content: 'what a reviewer sees' },
    { name: 'file-two', content: 'what would be copied' },
  ]);
  const twice = Buffer.from(whole.toString('latin1').replaceAll('file-two', 'file-one'), 'latin1');
  await expect(readArchive(twice)).rejects.toThrow('it has two entries "file-one"');
});

it('a zip whose directory is elsewhere is refused before its entries are read', async () => {
  const whole = await zipOf([{ name: 'a' }]);
  whole.writeUInt16LE(0xffff, whole.lastIndexOf('PK\u0005\u0006', undefined, 'latin1') + 10);
  await expect(readArchive(whole)).rejects.toThrow('it is a zip64 archive');
});

it('a file that is not an archive is refused', async () => {
  await expect(readArchive(Buffer.from('text'))).rejects.toThrow(
    'the source cannot be used: it is neither a zip nor a tar.gz archive',
  );
});
