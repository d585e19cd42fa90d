import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { codeOf } from '../../machines/error-code.ts';

/** A file of an agent's folder. */
export interface AgentFile {
  /** Path in the folder, with `/`. */
  path: string;
  /** Path of its content, which a link inside the folder may name. */
  source: string;
}

export interface AgentFiles {
  files: AgentFile[];
  /** Folders and links that are not part of a backup. */
  leftOut: string[];
}

/** Folders that a package manager or git can bring back. */
const rebuilt = new Set(['node_modules', '.git']);

/** Files of `.service` that belong to a running daemon or to this machine, and copies of the state. */
const ofProcess =
  /^\.service\/(?:(?:serve|serve\.error|ui|replicas|upgrade)\.json|serve\.log(?:\.\d+(?:\.gz)?)?|(?:runtime|inspector|ui)\.token|backups|build|backing-up-[^/]*|.*\.(?:lock(?:-journal)?|probe|replaced-\d{8}T\d{6}Z(?:-wal|-shm|-journal)?))$/;

/** The private key of the log: each reader of a backup that had it could forge the next one. */
const signingKey = '.service/audit-key.pem';

/**
 * Lists the files of an agent's folder, `service.yaml` last. Left out are folders that can be installed again, links out
 * of the folder, and what belongs to a process.
 *
 * @param others absolute paths that are no files of the agent, such as its store
 */
export function agentFiles(directory: string, others: readonly string[]): AgentFiles {
  const root = realpathSync(directory);
  const excluded = new Set(others.map((path) => resolve(directory, path)));
  const found: AgentFiles = { files: [], leftOut: [] };
  walk({ root, directory: resolve(directory), excluded, found }, '');
  const isLast = ({ path }: AgentFile) => path === 'service.yaml';
  found.files = [...found.files.filter((file) => !isLast(file)), ...found.files.filter(isLast)];
  return found;
}

interface Walk {
  root: string;
  directory: string;
  excluded: ReadonlySet<string>;
  found: AgentFiles;
}

function walk(parts: Walk, folder: string): void {
  const { root, directory, excluded, found } = parts;
  for (const entry of entriesOf(join(directory, folder))) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const full = join(directory, path);
    if (excluded.has(full) || ofProcess.test(path)) continue;
    // Node replaces bytes that are no UTF-8, so no path of the file has its name.
    const isNamed = !entry.name.includes('\uFFFD') && !entry.name.startsWith('..');
    if (!isNamed || path === signingKey) found.leftOut.push(path);
    else if (entry.isDirectory()) {
      if (rebuilt.has(entry.name)) found.leftOut.push(`${path}/`);
      else walk(parts, path);
    } else if (entry.isFile()) found.files.push({ path, source: full });
    else if (entry.isSymbolicLink()) {
      const source = linkedFile(root, full);
      if (source === null) found.leftOut.push(path);
      else found.files.push({ path, source });
    }
  }
}

/** Returns nothing for a folder that a tool has removed since its parent was read. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Returns the file that a path or a link names; `null` for one outside the folder, and for a folder. */
export function linkedFile(root: string, link: string): string | null {
  try {
    const target = realpathSync(link);
    const isInside =
      !relative(root, target).startsWith(`..${sep}`) && relative(root, target) !== '..';
    return isInside && lstatSync(target).isFile() ? target : null;
  } catch {
    return null;
  }
}
