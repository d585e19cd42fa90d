import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import {
  largestSettingsFile,
  readRegularFile,
  UnusableFileError,
} from '../../actors/read-regular-file.ts';
import { resolveInside } from '../../actors/tools/tools.ts';
import {
  AddSkillError,
  type FileTree,
  isArchiveName,
  readFolder,
} from '../../actors/workspace/workspace.ts';
import { yamlLimits } from '../../actors/yaml-limits.ts';
import { codeOf } from '../../machines/error-code.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import type { AgentPlace } from '../policy/held-rules.ts';
import { readSkillFiles } from '../skills/read-skill-files.ts';

/** The content of a configuration of another product, or of a folder of skills. */
export interface ImportSource {
  kind: 'forge' | 'servers' | 'skills';
  /** The file or folder that was read. */
  path: string;
  /** The folder that it describes. */
  folder: string;
  root: JsonObject;
  skills: FileTree;
}

/** Places of MCP settings in a project. */
const serverFiles = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'];

/** Folders of a project in which such settings are. */
const editorFolders = new Set(['.cursor', '.vscode', '.codex', '.zed', '.kiro', '.roo']);

const mostServers = largestSettingsFile * 16;

/**
 * Reads what can be imported from a path: a `forge.yaml`, MCP settings in JSON or TOML, or skills. Rejects with an
 * AddSkillError.
 */
export async function readImport(path: string): Promise<ImportSource> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw unusable(`there is nothing at ${path}`);
  if (!found.isDirectory()) return readFile(path);
  const folder = await realpath(path);
  const files = ['forge.yaml', 'forge.yml', ...serverFiles];
  const there: string[] = [];
  for (const name of files) {
    const place = await resolveInside(folder, join(folder, name));
    if (place.kind === 'outside') throw unusable(`${name} is a link out of the folder`);
    if (place.kind === 'inside') there.push(name);
  }
  const forge = there.find((name) => name.startsWith('forge.'));
  const [only, second] = forge === undefined ? there : [forge];
  if (second !== undefined) throw unusable(`${path} has ${there.join(' and ')}; name one of them`);
  if (only !== undefined) {
    const source = await readFile(join(folder, only));
    if (source.kind !== 'servers') return source;
    return { ...source, skills: await filesIn(folder, projectFolders) };
  }
  const skills = await readFolder(folder);
  if (![...skills.keys()].some((name) => basename(name) === 'SKILL.md')) {
    throw unusable(`${path} has no ${files.join(', ')} and no SKILL.md`);
  }
  return { kind: 'skills', path, folder, root: {}, skills };
}

async function readFile(path: string): Promise<ImportSource> {
  const folder = dirname(path);
  const skills: FileTree = new Map();
  if (isArchiveName(path)) {
    return { kind: 'skills', path, folder, root: {}, skills: await readSkillFiles(path, nowhere) };
  }
  const ending = extname(path).toLowerCase();
  if (ending === '.yaml' || ending === '.yml') {
    const root = parseYaml(path, textOf(path));
    return {
      kind: 'forge',
      path,
      folder,
      root: await withGuardrails(folder, root),
      skills: await skillsOfAgent(folder),
    };
  }
  const text = textOf(path, mostServers);
  const root = ending === '.toml' ? await parseToml(path, text) : parseJsonc(path, text);
  const isEditors = editorFolders.has(basename(folder));
  return { kind: 'servers', path, folder: isEditors ? dirname(folder) : folder, root, skills };
}

/** An archive on disk needs no agent. */
const nowhere: AgentPlace = { directory: '', env: {} };

/** Folders of skills in a project with MCP settings, and those of an agent with its main skill. */
const projectFolders = ['skills', '.claude/skills', '.agents/skills'];
const agentFolders = ['skills', 'scripts', 'references', 'assets'];

/** Reads the files of these folders, as far as they exist. */
async function filesIn(
  folder: string,
  names: readonly string[],
): Promise<Map<string, Buffer | null>> {
  const tree = new Map<string, Buffer | null>();
  const home = await realpath(folder);
  for (const name of names) {
    const place = await resolveInside(home, join(home, name));
    if (place.kind === 'outside') throw unusable(`${name} is a link out of the folder`);
    if (place.kind === 'missing') continue;
    for (const [path, content] of await readFolder(place.path))
      tree.set(`${name}/${path}`, content);
  }
  return tree;
}

/** Reads the skills of an agent: those in `skills`, and the main one with its folders. */
async function skillsOfAgent(folder: string): Promise<FileTree> {
  const home = await realpath(folder);
  const main = await resolveInside(home, join(home, 'SKILL.md'));
  if (main.kind === 'outside') throw unusable('SKILL.md is a link out of the folder');
  const files = await filesIn(folder, agentFolders);
  if (main.kind === 'inside') files.set('SKILL.md', Buffer.from(textOf(main.path)));
  return files;
}

/** Puts the content of the guardrails file under `guardrails`. */
async function withGuardrails(folder: string, root: JsonObject): Promise<JsonObject> {
  const { guardrails_path: named = 'guardrails.json', ...others } = root;
  const home = await realpath(folder);
  const place = typeof named === 'string' ? await resolveInside(home, join(home, named)) : null;
  if (place?.kind === 'outside') throw unusable('guardrails_path leads out of the folder');
  if (place?.kind !== 'inside') return root;
  const guardrails = parseJsonc(place.path, textOf(place.path));
  return { ...others, guardrails_path: named, guardrails };
}

function textOf(path: string, longest = largestSettingsFile): string {
  try {
    return readRegularFile(path, longest)
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  } catch (error) {
    const why =
      error instanceof UnusableFileError
        ? reasonOf(error.code, longest)
        : `cannot be read (${codeOf(error)})`;
    throw unusable(`${path} ${why}`);
  }
}

function reasonOf(code: UnusableFileError['code'], longest: number): string {
  return code === 'no_file' ? 'is no file' : `is larger than ${longest / 1024} KiB`;
}

function parseYaml(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = load(text, yamlLimits);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    throw unusable(`${path}:${line + 1}:${column + 1}: it is not valid YAML: ${error.reason}`);
  }
  return asMap(path, value);
}

/** Reads JSON with comments and commas at the end, as editors write it. */
function parseJsonc(path: string, text: string): JsonObject {
  const errors: ParseError[] = [];
  let tree: Node | undefined;
  try {
    tree = parseTree(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error !== undefined) {
      throw unusable(
        `${path}:${placeOf(text, error.offset)}: it is not valid JSON: ${printParseErrorCode(error.error)}`,
      );
    }
    return asMap(path, tree === undefined ? null : valueOf(tree, path, text));
  } catch (error) {
    // The stack ends before the text does.
    if (error instanceof RangeError) throw unusable(`${path} is nested too deeply`);
    throw error;
  }
}

/** A name that is written twice would hide the first. */
function valueOf(node: Node, path: string, text: string): JsonValue {
  const children = node.children ?? [];
  if (node.type === 'array') return children.map((child) => valueOf(child, path, text));
  if (node.type !== 'object') return node.value as JsonValue;
  const seen = new Set<string>();
  return Object.fromEntries(
    children.map(({ children: [name, value] = [] }) => {
      const key = String(name?.value);
      if (seen.has(key)) {
        throw unusable(
          `${path}:${placeOf(text, name?.offset ?? 0)}: ${JSON.stringify(key)} is written twice; keep one`,
        );
      }
      seen.add(key);
      return [key, value === undefined ? null : valueOf(value, path, text)];
    }),
  );
}

async function parseToml(path: string, text: string): Promise<JsonObject> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return asMap(path, JSON.parse(JSON.stringify(parse(text))));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]?.replace('Invalid TOML document: ', '');
    throw unusable(`${path}:${error.line}:${error.column}: it is not valid TOML: ${reason}`);
  }
}

function asMap(path: string, value: unknown): JsonObject {
  // Dates of YAML become texts.
  const plain: unknown = JSON.parse(JSON.stringify(value ?? null));
  if (isJsonObject(plain)) return plain;
  throw unusable(`${path} is no map of keys and values`);
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

function unusable(message: string): AddSkillError {
  return new AddSkillError('skill_unusable', message);
}
