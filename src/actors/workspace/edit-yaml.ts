import { isDeepStrictEqual } from 'node:util';
import { load } from 'js-yaml';
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type Scalar,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { yamlLimits } from '../yaml-limits.ts';

/** An edit of a YAML text. A path consists of keys and of indexes of existing items. */
export type YamlEdit =
  | { kind: 'append'; path: readonly string[]; items: readonly unknown[]; comment?: string }
  /** `isFirst` places a new key before the other keys of its map. */
  | { kind: 'put'; path: readonly (string | number)[]; value: unknown; isFirst?: boolean }
  | { kind: 'delete'; path: readonly (string | number)[] };

/** The text's style prevents edits; the message names the location. */
export class YamlTextError extends Error {
  readonly code = 'yaml_unusable';
}

/** Parses a YAML text. Throws a YamlTextError with the problem. */
export function valueOf(
  text: string,
  problem = 'the file is not valid YAML; fix it first',
): unknown {
  try {
    return load(text, yamlLimits);
  } catch (error) {
    throw new YamlTextError(problem, { cause: error });
  }
}

/**
 * Edits a YAML text in place: comments, blank lines, quotes and the order of keys are preserved on every other line.
 * Lists and maps keep their style; missing ones are created. An edit without an effect changes nothing. Throws a
 * YamlTextError if the resulting text does not have exactly the intended meaning.
 */
export function editYaml(text: string, edits: readonly YamlEdit[]): string {
  return edits.reduce(edited, text);
}

function edited(text: string, edit: YamlEdit): string {
  const before = valueOf(text) ?? {};
  const wanted = changed(before, edit);
  if (isDeepStrictEqual(before, wanted)) return text;
  const after = spliced(text, edit);
  if (!isDeepStrictEqual(valueOf(after) ?? {}, wanted)) {
    throw new YamlTextError(
      `${edit.path.join('.')} has a form that cannot be extended; edit it by hand`,
    );
  }
  return after;
}

/**
 * Returns the intended value after an edit. Only collections on the path change: others keep their value even if they
 * share an anchor with one of those.
 */
function changed(value: unknown, edit: YamlEdit, depth = 0): unknown {
  const key = edit.path[depth] ?? '';
  if (Array.isArray(value) && typeof key === 'number') return changedList(value, edit, depth);
  const fields = Object(value) as Record<string, unknown>;
  const { [key]: _, ...others } = fields;
  const old = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (depth < edit.path.length - 1) {
    const isAbsent = edit.kind === 'delete' && (old ?? null) === null;
    return isAbsent ? value : { ...others, [key]: changed(old, edit, depth + 1) };
  }
  switch (edit.kind) {
    case 'put':
      return { ...others, [key]: edit.value };
    case 'append':
      return {
        ...others,
        [key]: [...(Array.isArray(old) ? (old as unknown[]) : []), ...edit.items],
      };
    case 'delete':
      return others;
  }
}

function changedList(list: readonly unknown[], edit: YamlEdit, depth: number): unknown[] {
  const index = Number(edit.path[depth]);
  if (depth < edit.path.length - 1) {
    return list.with(index, changed(list[index], edit, depth + 1));
  }
  return edit.kind === 'put' ? list.with(index, edit.value) : list.toSpliced(index, 1);
}

function spliced(text: string, edit: YamlEdit): string {
  const root = parseDocument(text, { logLevel: 'silent' }).contents;
  if (root !== null && !isMap(root)) throw new YamlTextError('the file is no map of keys');
  const { parent, at, key, node, rest } = placeOf(root, edit.path);
  if (edit.kind === 'delete') {
    if (parent === null || at === -1 || rest.length > 0) return text;
    if (parent.items.length > 1 || parent === root) return deleteEntry(text, parent, at);
    const path = edit.path.slice(0, -1).map(String);
    return spliced(text, { kind: 'put', path, value: isSeq(parent) ? [] : {} });
  }
  const value = rest.reduceRight<unknown>(
    (inner, name) => ({ [name]: inner }),
    edit.kind === 'put' ? edit.value : edit.items,
  );
  const isFirst = edit.kind === 'put' && edit.isFirst === true && rest.length === 0;
  const entry = parent?.items[at];
  if (parent === null || entry === undefined) {
    return insertPair(text, parent as YAMLMap | null, { [key]: value }, isFirst);
  }
  if (isAlias(node)) throw new YamlTextError(`${key} is written as an alias; change it by hand`);
  if (isNull(node)) {
    return node?.source ? replace(text, node, value) : fill(text, parent, entry, value);
  }
  if (edit.kind === 'append') return appendItems(text, node, edit);
  if (!isBlock(node)) return replace(text, node, value);
  return spliced(deleteLines(text, ...spanOf(node)), edit);
}

type Collection = YAMLMap | YAMLSeq;

interface Place {
  /** The innermost collection on the path; `null` for a string without content. */
  parent: Collection | null;
  /** Index of the entry in the collection; -1 if it is absent. */
  at: number;
  key: string | number;
  node: Node | null;
  /** The part of the path below the entry. */
  rest: readonly (string | number)[];
}

/** Follows a path to its end, or to the first entry that is absent or empty. */
function placeOf(parent: Collection | null, path: YamlEdit['path']): Place {
  const [key = '', ...rest] = path;
  const entries: readonly unknown[] = parent?.items ?? [];
  const at = isSeq(parent)
    ? Number(key)
    : entries.findIndex((one) => isPair(one) && isScalar(one.key) && one.key.value === key);
  const entry = entries[at];
  const node = (isPair(entry) ? entry.value : (entry ?? null)) as Node | null;
  if (entry === undefined || rest.length === 0 || isNull(node) || isAlias(node)) {
    return { parent, at, key, node, rest };
  }
  if (isMap(node) || (isSeq(node) && typeof rest[0] === 'number')) return placeOf(node, rest);
  throw new YamlTextError(`${key} is no map of keys; change it by hand`);
}

function isNull(node: Node | null): node is Scalar<null> | null {
  return node === null || (isScalar(node) && node.value === null);
}

/** True for a list or map in lines of its own. */
function isBlock(node: unknown): node is Collection {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

function appendItems(
  text: string,
  node: Node | null,
  { items, comment }: Extract<YamlEdit, { kind: 'append' }>,
): string {
  if (!isSeq(node)) throw new YamlTextError('a list is wanted where there is none');
  const [start, end] = spanOf(node);
  if (node.flow === true) {
    const words = items.map((item) => flow(item)).join(', ');
    const last = node.items.at(-1);
    return last === undefined
      ? insertAt(text, start + 1, words)
      : insertAt(text, spanOf(last)[1], `, ${words}`);
  }
  const note = comment === undefined ? '' : ` # ${comment}`;
  const margin = ' '.repeat(columnOf(text, start));
  const lines = items.map((item) => `${margin}- ${flow(item)}${note}`);
  return insertLines(text, end, lines.join('\n'));
}

function insertPair(text: string, map: YAMLMap | null, pair: object, isFirst: boolean): string {
  const [first, last] = [map?.items[0], map?.items.at(-1)];
  if (map?.flow === true) {
    const words = flow(pair).slice(1, -1);
    if (last !== undefined && !isFirst) return insertAt(text, spanOf(last)[1], `, ${words}`);
    return insertAt(text, spanOf(map)[0] + 1, last === undefined ? words : `${words}, `);
  }
  if (last === undefined) return insertLines(text, text.length, block(pair, 0));
  const [start] = spanOf(first);
  const lines = block(pair, columnOf(text, start));
  return insertLines(text, isFirst ? startOfLine(text, start) : spanOf(last)[1], lines);
}

/** Inserts a value after a key that has none. */
function fill(text: string, parent: Collection, entry: unknown, value: unknown): string {
  const [start, end] = spanOf(isPair(entry) ? entry.key : entry);
  const colon = text.indexOf(':', end) + 1;
  const isLong = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return isLong && parent.flow !== true
    ? insertLines(text, colon, block(value, columnOf(text, start) + 2))
    : insertAt(text, colon, ` ${flow(value)}`);
}

function replace(text: string, node: Node | null, value: unknown): string {
  const [start, end] = spanOf(node);
  const { length } = text.slice(start, end).trimEnd();
  return cut(text, start, start + length, flow(value));
}

function deleteEntry(text: string, parent: Collection, at: number): string {
  const [start, end] = spanOf(parent.items[at]);
  if (parent.flow !== true) return deleteLines(text, start, end);
  const next = parent.items[at + 1];
  return next === undefined
    ? cut(text, spanOf(parent.items[at - 1])[1], end)
    : cut(text, start, spanOf(next)[0]);
}

/** Returns the offsets of a node or a pair, without trailing blank lines and comments. */
function spanOf(entry: unknown): [number, number] {
  if (isPair(entry)) return [spanOf(entry.key)[0], spanOf(entry.value ?? entry.key)[1]];
  const [start = 0, end = 0] = (entry as Node | null)?.range ?? [];
  return [start, isBlock(entry) && entry.items.length > 0 ? spanOf(entry.items.at(-1))[1] : end];
}

/** Formats a value on one line. */
function flow(value: unknown): string {
  return stringify(value, {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    doubleQuotedMinMultiLineLength: Infinity,
    lineWidth: 0,
  }).trimEnd();
}

function block(value: unknown, margin: number): string {
  const lines = stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  return lines.map((line) => `${' '.repeat(margin)}${line}`).join('\n');
}

function columnOf(text: string, offset: number): number {
  return offset - startOfLine(text, offset);
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the start of the line after an offset; an offset at the start of a line is one already. */
function nextLine(text: string, offset: number): number {
  if (offset === 0 || text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

function cut(text: string, start: number, end: number, words = ''): string {
  return text.slice(0, start) + words + text.slice(end);
}

function insertAt(text: string, offset: number, words: string): string {
  return cut(text, offset, offset, words);
}

/** Inserts complete lines after the line that contains the end of a node. */
function insertLines(text: string, offset: number, lines: string): string {
  const place = nextLine(text, offset);
  const gap = place === 0 || text[place - 1] === '\n' ? '' : '\n';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return insertAt(text, place, `${gap}${lines}\n`.replaceAll('\n', eol));
}

/** Deletes the lines from one offset to another. */
function deleteLines(text: string, start: number, end: number): string {
  return cut(text, startOfLine(text, start), nextLine(text, end));
}
