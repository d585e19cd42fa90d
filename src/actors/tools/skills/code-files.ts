import type { BigIntStats } from 'node:fs';
import { extname } from 'node:path';
import { openRegularFile } from '../../open-regular-file.ts';
import { codeExtensions, isPassing } from './code-digest.ts';
import { rememberedByState } from './remembered-by-state.ts';

/** File extensions that programs load, in addition to script extensions. */
const loadable = new Set([
  ...codeExtensions,
  ...['.jsx', '.tsx', '.rb', '.pl', '.pm', '.php', '.phar', '.lua', '.r', '.jl', '.tcl', '.exs'],
  ...['.bash', '.zsh', '.ksh', '.fish', '.ps1', '.awk', '.sed', '.jq', '.sql', '.cel', '.rego'],
  ...['.wasm', '.jar', '.war', '.class', '.node', '.so', '.dll', '.dylib', '.exe', '.bin'],
  ...['.pth', '.pyc', '.pyd', '.pyi', '.egg', '.whl', '.pyz', '.pyzw', '.zip'],
]);

/** A shared library with a version, such as `libpay.so.1.2`. */
const versionedLibrary = /\.so(?:\.\d+)+$/i;

/** Files that can determine which code a program loads, in any folder. */
const packageFile =
  /^(?:package(?:-lock)?\.json|[tj]sconfig.*\.json|deno\.jsonc?|import_?map.*\.json|pyproject\.toml|pyvenv\.cfg|requirements.*\.txt|setup\.(?:cfg|py)|gemfile(?:\.lock)?|makefile|\..*rc|.*\.config\.json)$/i;

/** File extensions of non-programs, whose content need not be inspected. */
const plain =
  /\.(?:md|txt|log|csv|tsv|json|jsonl|ndjson|ya?ml|toml|xml|html?|css|svg|png|jpe?g|gif|webp|pdf|docx|xlsx|pptx|od[tsp]|epub|db|db-wal|db-shm|sqlite3?|parquet|gz|map|lock)$/i;

/** Magic bytes of files that are run or loaded regardless of name: scripts, binaries, code archives and similar. */
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

/** Returns whether a program may load a file as code, by its name. */
export function isCodeName(name: string): boolean {
  return (
    loadable.has(extname(name).toLowerCase()) ||
    versionedLibrary.test(name) ||
    packageFile.test(name)
  );
}

/**
 * Returns whether code in the same folder may load a file: JSON, as by `require`, and files without an extension, as by
 * a shell. In the agent's own folder the latter are notes and logs.
 */
export function isLoadedByNeighbors(name: string, isRoot: boolean): boolean {
  const ending = extname(name).toLowerCase();
  return ending === '.json' || (ending === '' && !isRoot && !name.startsWith('.'));
}

/** Returns whether a file is a program, by its content. Rejects on a system failure. */
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
