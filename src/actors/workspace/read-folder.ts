import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../machines/error-code.ts';
import { type FileTree, refused, TreeBuilder, tooLarge } from './file-tree.ts';

/** Reads all files of a folder into memory; follows no link. Rejects with an AddSkillError. */
export async function readFolder(folder: string): Promise<FileTree> {
  const tree = new TreeBuilder();
  await collect(tree, folder, '');
  return tree.files;
}

async function collect(tree: TreeBuilder, folder: string, prefix: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw refused(`${prefix === '' ? folder : prefix} cannot be read (${codeOf(error)})`);
  });
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = tree.accept(`${prefix}${entry.name}`);
    if (path === null) continue;
    if (entry.isDirectory()) await collect(tree, join(folder, entry.name), `${path}/`);
    else if (entry.isFile()) tree.add(path, await readFile(join(folder, entry.name), path, tree));
    else tree.add(path, null);
  }
}

async function readFile(file: string, path: string, { left }: TreeBuilder): Promise<Buffer> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw refused(`${path} cannot be read (${codeOf(error)})`);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw refused(`${path} is neither a file nor a folder`);
    if (stat.size > left) throw tooLarge();
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
