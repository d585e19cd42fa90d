import { join, relative, resolve, sep } from 'node:path';
import {
  belongsTo,
  isConfiguration,
  isNamedLikeSecret,
  realPlace,
  realSpelling,
} from '../sandbox/sandbox.ts';

/** The files of an agent, as far as tools have to do with them. */
export interface AgentFiles {
  /** The agent's folder, links resolved. */
  directory: string;
  /** Absolute paths of its state, such as the store and the audit log, links resolved. */
  state: readonly string[];
  /** Absolute paths of what it is made of, such as skills and scripts, which may be read and not written. */
  code: readonly string[];
  /** Absolute paths of the folders that tools may write, links resolved (`egress.writable`). */
  writable: () => readonly string[];
}

/** What a tool wants of a file. */
export type FileIntent = 'read' | 'write';

/** A place in the agent's folder that a tool may use. */
export interface FilePlace {
  /** The names that lead there from the agent's folder, none of them a link; none for the folder itself. */
  names: readonly string[];
}

/** What an agent is told to be by, whichever folder it lies in. */
const instructions = /^(?:skill|agents?)\.md$/i;

/** Resolves the links in what an agent is made of. */
export async function agentFiles(files: AgentFiles): Promise<AgentFiles> {
  const { directory, writable } = files;
  const real = (paths: readonly string[]) =>
    Promise.all(paths.map((path) => realSpelling(resolve(directory, path))));
  return { directory, state: await real(files.state), code: await real(files.code), writable };
}

/**
 * Resolves a path that a model has written, links included, and says in words why a tool may not use what it
 * leads to (contract section 13). It may lie outside of the folder by the time it is opened: see `openFolder`.
 */
export async function findPlace(
  files: AgentFiles,
  path: string,
  intent: FileIntent,
): Promise<FilePlace | { refusal: string }> {
  const outside = { refusal: 'argument path leads out of the folder of the agent, or nowhere' };
  if (path.includes('\0')) return { refusal: 'argument path is no path' };
  const written = resolve(files.directory, path);
  if (namesOf(files, written) === null) return outside;
  const place = await realPlace(written);
  const names = place === null ? null : namesOf(files, place);
  if (names === null) return outside;
  const refusal = refusalOf(files, names, intent);
  return refusal === null ? { names } : { refusal: `argument path ${refusal}` };
}

/** Says in words why a tool may not use what lies at the end of these names; `null` when it may. */
export function refusalOf(
  files: AgentFiles,
  names: readonly string[],
  intent: FileIntent,
): string | null {
  const name = names.at(-1) ?? '';
  const steps = names.map((_, at) => join(files.directory, ...names.slice(0, at + 1)));
  // What is not there yet may become a file or a folder.
  if (steps.some((step) => isNamedLikeSecret(step, true)) || isSecretFile(steps.at(-1))) {
    return 'is named like a secret, which no tool may see';
  }
  if (isConfiguration(name)) return 'configures the agent, which no tool may see';
  if (steps.some((step) => files.state.some((path) => belongsTo(path, step)))) {
    return 'is state of the agent, which no tool may see';
  }
  const isCode =
    names.includes('node_modules') ||
    instructions.test(name) ||
    steps.some((step) => files.code.includes(step));
  if (intent === 'read') return null;
  if (isCode) return 'is what the agent is made of, which no tool may write';
  const folders = files.writable();
  if (folders.some((folder) => steps.includes(folder))) return null;
  const named = folders.map((folder) => relative(files.directory, folder)).join(', ');
  return `lies outside of the folders that tools may write; ${named === '' ? 'egress.writable names none' : `write below ${named}`}`;
}

function isSecretFile(path: string | undefined): boolean {
  return path !== undefined && isNamedLikeSecret(path, false);
}

function namesOf({ directory }: AgentFiles, path: string): string[] | null {
  const names = relative(directory, path)
    .split(sep)
    .filter((name) => name !== '');
  return names[0] === '..' ? null : names;
}
