import type { BigIntStats } from 'node:fs';
import { extname } from 'node:path';
import { openRegularFile } from '../../open-regular-file.ts';
import { codeExtensions, isPassing } from './code-digest.ts';
import { rememberedByState } from './remembered-by-state.ts';

/** Endings of files that programs load, beside those of scripts. */
const loadable = new Set([
  ...codeExtensions,
  ...['.jsx', '.tsx', '.rb', '.pl', '.pm', '.php', '.phar', '.lua', '.r', '.jl', '.tcl', '.exs'],
  ...['.bash', '.zsh', '.ksh', '.fish', '.ps1', '.awk', '.sed', '.jq', '.sql', '.cel', '.rego'],
  ...['.wasm', '.jar', '.war', '.class', '.node', '.so', '.dll', '.dylib', '.exe', '.bin'],
  ...['.pth', '.pyc', '.pyd', '.pyi', '.egg', '.whl', '.pyz', '.pyzw', '.zip'],
]);

/** A shared library with its version, such as `libpay.so.1.2`. */
const versionedLibrary = /\.so(?:\.\d+)+$/i;

/** Files that can change which code a program loads, whichever folder they lie in. */
const packageFile =
  /^(?:package(?:-lock)?\.json|[tj]sconfig.*\.json|deno\.jsonc?|import_?map.*\.json|pyproject\.toml|pyvenv\.cfg|requirements.*\.txt|setup\.(?:cfg|py)|gemfile(?:\.lock)?|makefile|\..*rc|.*\.config\.json)$/i;

/** Endings of what is no program, so that its content need not be looked at. */
const plain =
  /\.(?:md|txt|log|csv|tsv|json|jsonl|ndjson|ya?ml|toml|xml|html?|css|svg|png|jpe?g|gif|webp|pdf|docx|xlsx|pptx|od[tsp]|epub|db|db-wal|db-shm|sqlite3?|parquet|gz|map|lock)$/i;

/** How files begin that are run or loaded whatever their name is: scripts, binaries, archives of code and the like. */
const beginnings = [
  '#!',
  '\x7fELF',
  'MZ',
  'PK\x03\x04',
  '\0asm',
  '\xca\xfe\xba\xbe',
  '\xcf\xfa\xed\xfe',
  '\xce\xfa\xed\xfe',
].map((text) => Buffer.from(text, 'latin1'));

const executable = 0o111n;

const longestBeginning = 4;

const programs = rememberedByState<boolean>();

/** Tells by its name whether a program may load a file as code. */
export function isCodeName(name: string): boolean {
  return (
    loadable.has(extname(name).toLowerCase()) ||
    versionedLibrary.test(name) ||
    packageFile.test(name)
  );
}

/**
 * Tells whether code in the same folder may load a file: JSON, as `require` does, and texts without an ending, as a shell
 * does. In the agent's own folder the latter are notes and logs.
 */
export function isLoadedByNeighbors(name: string, isRoot: boolean): boolean {
  const ending = extname(name).toLowerCase();
  return ending === '.json' || (ending === '' && !isRoot && !name.startsWith('.'));
}

/** Tells by its content whether a file is a program. Rejects for a failure of the machine. */
export async function isProgram(path: string, found: BigIntStats): Promise<boolean> {
  if (plain.test(path)) return false;
  if (extname(path) === '' && (found.mode & executable) !== 0n) return true;
  return programs(path, found, () => beginsLikeProgram(path));
}

async function beginsLikeProgram(path: string): Promise<boolean> {
  try {
    const file = await openRegularFile(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(longestBeginning), 0, longestBeginning, 0);
      return beginnings.some((one) => one.equals(buffer.subarray(0, one.length)));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isPassing(error)) throw error;
    return false;
  }
}
