import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { collectBytes } from '../collect-bytes.ts';
import { AddSkillError } from './add-skill.ts';
import { type FileTree, refused, TreeBuilder, tooLarge, treeLimits } from './file-tree.ts';

/** Most bytes of an archive, and of a tar file once it is unpacked with its headers. */
export const largestArchive = 32 * 1024 * 1024;
const largestTar = 2 * largestArchive;

/** Returns whether a name is that of an archive that can be read. */
export function isArchiveName(name: string): boolean {
  return /\.(?:zip|skill|tar\.gz|tgz)$/i.test(name);
}

/**
 * Reads the files of a zip or tar.gz archive into memory; its first bytes decide which it is. Rejects with an
 * AddSkillError for a path that leads out of it, and for content beyond the limits.
 */
export async function readArchive(bytes: Buffer): Promise<FileTree> {
  const tree = new TreeBuilder();
  try {
    if (bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) await readZip(tree, bytes);
    else if (bytes[0] === 0x1f && bytes[1] === 0x8b) await readTar(tree, bytes);
    else throw refused('it is neither a zip nor a tar.gz archive');
  } catch (error) {
    if (error instanceof AddSkillError) throw error;
    throw new AddSkillError('skill_unusable', 'the source cannot be used: the archive is damaged', {
      cause: error,
    });
  }
  return tree.files;
}

const fileType = 0o170000;
const regular = 0o100000;

async function readZip(tree: TreeBuilder, bytes: Buffer): Promise<void> {
  checkDirectory(bytes);
  const { default: Zip } = await import('jszip');
  const entries = Object.values((await Zip.loadAsync(bytes, { createFolders: false })).files);
  for (const entry of entries) {
    const path = tree.accept(entry.unsafeOriginalName ?? entry.name);
    const type = Number(entry.unixPermissions ?? 0) & fileType;
    if (path === null || entry.dir) continue;
    if (type !== 0 && type !== regular) {
      tree.add(path, null);
      continue;
    }
    // The size in the archive may be a lie, so what comes out is counted.
    const stream = new Readable().wrap(entry.nodeStream()) as AsyncIterable<Uint8Array>;
    const content = await collectBytes(stream, tree.left, tooLarge);
    tree.add(path, Buffer.from(content));
  }
}

/**
 * Checks the directory of a zip before the library reads it: the library keeps the last of several entries with one
 * name, where other programs keep the first, and has no limit. Throws an AddSkillError.
 */
function checkDirectory(bytes: Buffer): void {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0 || end + 22 > bytes.length) throw refused('the archive is damaged');
  const size = bytes.readUInt32LE(end + 12);
  // The form for larger archives states the place of its directory elsewhere.
  const short = [4, 6, 8, 10].map((at) => bytes.readUInt16LE(end + at));
  const isLarge =
    short.includes(0xffff) || [size, bytes.readUInt32LE(end + 16)].includes(0xffffffff);
  if (isLarge) throw refused('it is a zip64 archive');
  if (size > end) throw refused('the archive is damaged');
  const names = new Set<string>();
  for (let at = end - size; at + 46 <= end; ) {
    if (bytes.toString('latin1', at, at + 4) !== 'PK\x01\x02') return;
    const length = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('latin1', at + 46, at + 46 + length);
    if (names.has(name)) throw refused(`it has two entries ${JSON.stringify(name.slice(0, 200))}`);
    names.add(name);
    if (names.size > treeLimits.files * 2) {
      throw refused(`it has more than ${treeLimits.files} files`);
    }
    at += 46 + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

async function readTar(tree: TreeBuilder, bytes: Buffer): Promise<void> {
  const { extract } = await import('tar-stream');
  const unpacked = extract();
  const reading = (async () => {
    for await (const entry of unpacked) {
      const { name, type } = entry.header;
      const path = tree.accept(name);
      if (type === 'file' && path !== null) {
        tree.add(
          path,
          Buffer.from(await collectBytes(entry as AsyncIterable<Uint8Array>, tree.left, tooLarge)),
        );
        continue;
      }
      if (type !== 'directory' && path !== null) tree.add(path, null);
      entry.resume();
    }
  })();
  let size = 0;
  await Promise.all([
    reading,
    pipeline(
      [bytes],
      createGunzip(),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > largestTar) throw tooLarge();
          yield chunk;
        }
      },
      unpacked,
    ),
  ]);
}
