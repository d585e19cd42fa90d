import { join, relative, resolve, sep } from 'node:path';
import {
  belongsTo,
  isConfiguration,
  isNamedLikeSecret,
  realPlace,
  realSpelling,
} from '../sandbox/sandbox.ts';

/** The files of an agent that tools may read; plain data, so that it can be sent to a worker. */
export interface ReadableFiles {
  /** The agent's folder, links resolved. */
  directory: string;
  /** Absolute paths of its state, such as the store and the audit log, links resolved. */
  state: readonly string[];
  /** Absolute paths of its definition, such as skills and scripts, which tools may read but not write. */
  code: readonly string[];
}

/** The files of an agent that tools may read or write. */
export interface AgentFiles extends ReadableFiles {
  /** Returns the absolute paths of writable folders, links resolved (`egress.writable`). */
  writable: () => readonly string[];
}

/** Returns the read-only part. */
export function readableFiles({ directory, state, code }: AgentFiles): ReadableFiles {
  return { directory, state, code };
}

/** A path in the agent's folder that a tool may use. */
export interface FilePlace {
  /** Path components from the agent's folder, without links; empty for the folder itself. */
  names: readonly string[];
}

/** Instruction files of agents, protected in every folder. */
const instructions = /^(?:skill|agents?)\.md$/i;

/** Resolves the links in the agent's paths. */
export async function agentFiles(files: AgentFiles): Promise<AgentFiles> {
  const { directory, writable } = files;
  const real = (paths: readonly string[]) =>
    Promise.all(paths.map((path) => realSpelling(resolve(directory, path))));
  return { directory, state: await real(files.state), code: await real(files.code), writable };
}

/**
 * Resolves a path from a model, including links, and returns why a tool may not use it (docs/contract/models.md). The
 * path may lead outside the folder by the time it is opened; see `openFolder`.
 */
export async function findPlace(
  files: ReadableFiles,
  path: string,
  refusalOf: (names: readonly string[]) => string | null = (names) => hiddenFrom(files, names),
): Promise<FilePlace | { refusal: string }> {
  const outside = { refusal: 'argument path leads out of the folder of the agent, or nowhere' };
  if (path.includes('\0')) return { refusal: 'argument path is no path' };
  const written = resolve(files.directory, path);
  if (namesOf(files, written) === null) return outside;
  const place = await realPlace(written);
  const names = place === null ? null : namesOf(files, place);
  if (names === null) return outside;
  const refusal = refusalOf(names);
  return refusal === null ? { names } : { refusal: `argument path ${refusal}` };
}

/** Returns why tools may not see a path; `null` if they may. */
export function hiddenFrom(files: ReadableFiles, names: readonly string[]): string | null {
  const name = names.at(-1) ?? '';
  const steps = stepsOf(files, names);
  // A path that does not exist yet may become a file or a folder.
  if (steps.some((step) => isNamedLikeSecret(step, true)) || isSecretFile(steps.at(-1))) {
    return 'is named like a secret, which tools cannot read';
  }
  if (isConfiguration(name)) return 'is configuration of the agent, which tools cannot read';
  if (steps.some((step) => files.state.some((path) => belongsTo(path, step)))) {
    return 'is state of the agent, which tools cannot read';
  }
  return null;
}

/** Returns why tools may not write to a path; `null` if they may. */
export function writeRefusal(files: AgentFiles, names: readonly string[]): string | null {
  const hidden = hiddenFrom(files, names);
  if (hidden !== null) return hidden;
  const name = names.at(-1) ?? '';
  const steps = stepsOf(files, names);
  const isCode =
    names.includes('node_modules') ||
    instructions.test(name) ||
    steps.some((step) => files.code.includes(step));
  if (isCode) return 'is part of the agent, which tools cannot write';
  const folders = files.writable();
  if (folders.some((folder) => steps.includes(folder))) return null;
  const named = folders.map((folder) => relative(files.directory, folder)).join(', ');
  return `is outside the folders that tools can write; ${named === '' ? 'egress.writable names none' : `write below ${named}`}`;
}

function stepsOf({ directory }: ReadableFiles, names: readonly string[]): string[] {
  return names.map((_, at) => join(directory, ...names.slice(0, at + 1)));
}

function isSecretFile(path: string | undefined): boolean {
  return path !== undefined && isNamedLikeSecret(path, false);
}

function namesOf({ directory }: ReadableFiles, path: string): string[] | null {
  const names = relative(directory, path)
    .split(sep)
    .filter((name) => name !== '');
  return names[0] === '..' ? null : names;
}
