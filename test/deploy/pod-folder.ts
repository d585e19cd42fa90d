import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../helpers/test-system.ts';

/** A volume's ConfigMap, as far as a pod mounts it. */
interface MountedMap {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** The part of a pod that copies the folder of the agent. */
interface FolderPod {
  initContainers: { command: string[] }[];
  volumes: { name: string; configMap?: { items?: { key: string; path: string }[] } }[];
}

/**
 * Returns the folder `/agent` of a pod: mounts its ConfigMap as the kubelet does, each entry a link into a dated folder,
 * and runs the command of its first container over it.
 */
export function podFolder({ initContainers, volumes }: FolderPod, map: MountedMap): string {
  const root = temporaryFolder();
  const dated = join(root, 'config', '..2026_11_27');
  for (const name of ['folder', 'state', 'config/..2026_11_27'])
    mkdirSync(join(root, name), { recursive: true });
  const { configMap } = volumes.find(({ name }) => name === 'config') ?? {};
  const keys = [...Object.keys(map.data ?? {}), ...Object.keys(map.binaryData ?? {})];
  for (const { key, path } of configMap?.items ?? keys.map((key) => ({ key, path: key }))) {
    const binary = map.binaryData?.[key];
    const text = map.data?.[key];
    if (binary === undefined && text === undefined)
      throw new Error(`the ConfigMap has no key ${key}`);
    mkdirSync(dirname(join(dated, path)), { recursive: true });
    writeFileSync(
      join(dated, path),
      binary === undefined ? (text ?? '') : Buffer.from(binary, 'base64'),
    );
  }
  symlinkSync('..2026_11_27', join(root, 'config/..part'));
  renameSync(join(root, 'config/..part'), join(root, 'config/..data'));
  for (const name of globSync('*', { cwd: dated }))
    symlinkSync(`..data/${name}`, join(root, 'config', name));
  const [program = '', ...words] = initContainers[0]?.command ?? [];
  const local = words.map((word) =>
    word.replaceAll(/(?<= )\/(folder|config|state)\b/g, `${root}/$1`),
  );
  const { status, stderr } = spawnSync(program, local, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the folder was not copied: ${stderr}`);
  return join(root, 'folder/agent');
}

/** Returns the text of each file below a folder, by its path. */
export function textsIn(folder: string): Record<string, string> {
  const paths = globSync('**/*.*', { cwd: folder }).toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}
