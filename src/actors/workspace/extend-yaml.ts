import { isDeepStrictEqual } from 'node:util';
import { load } from 'js-yaml';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml';

/** An addition to a YAML text: entries at the end of a list, or the value of a key. */
export type YamlAddition =
  | { kind: 'append'; path: readonly string[]; items: readonly unknown[]; comment?: string }
  | { kind: 'put'; path: readonly string[]; value: unknown };

/** The text's style prevents additions; the message names the location. */
export class YamlTextError extends Error {
  readonly code = 'yaml_unusable';
}

/**
 * Maximum depth of a `service.yaml` (docs/contract/configuration.md); `yaml` alone could crash the process on deeper
 * text.
 */
const maxDepth = 64;

/**
 * Adds to a YAML text only by insertion, so that comments, blank lines, quotes and the order of keys are preserved.
 * Lists and maps keep their style; missing ones are created. Throws a YamlTextError if the resulting text does not have
 * exactly the intended meaning.
 */
export function extendYaml(text: string, additions: readonly YamlAddition[]): string {
  return additions.reduce(extend, text);
}

function extend(text: string, addition: YamlAddition): string {
  const { path } = addition;
  const before = valueOf(text);
  const after = onUnixLines(text, (lines) => splice(lines, addition));
  if (!isDeepStrictEqual(valueOf(after), changed(before, addition))) {
    throw new YamlTextError(
      `${path.join('.')} has a form that cannot be extended; edit it by hand`,
    );
  }
  return after;
}

/** Edits a text with LF line ends; restores Windows line ends afterwards. */
export function onUnixLines(text: string, edit: (text: string) => string): string {
  const after = edit(text.replaceAll('\r\n', '\n'));
  return text.includes('\r\n') ? after.replaceAll('\n', '\r\n') : after;
}

function valueOf(text: string): unknown {
  try {
    return load(text, { maxDepth, maxAliases: 100 }) ?? {};
  } catch (error) {
    throw new YamlTextError('the file is not valid YAML; fix it first', { cause: error });
  }
}

/** Returns the intended value after an addition. */
function changed(value: unknown, addition: YamlAddition): unknown {
  const copy = structuredClone(Object(value) as Record<string, unknown>);
  let place = copy;
  for (const key of addition.path.slice(0, -1)) {
    place[key] ??= {};
    place = Object(place[key]) as Record<string, unknown>;
  }
  const last = addition.path.at(-1) ?? '';
  const old = place[last];
  place[last] =
    addition.kind === 'put'
      ? addition.value
      : [...(Array.isArray(old) ? (old as unknown[]) : []), ...addition.items];
  return copy;
}

function splice(text: string, addition: YamlAddition): string {
  const root = parseDocument(text, { logLevel: 'silent' }).contents;
  if (root !== null && !isMap(root)) throw new YamlTextError('the file is no map of keys');
  let map: YAMLMap | null = root as YAMLMap | null;
  for (const [depth, key] of addition.path.entries()) {
    const pair = map?.items.find((one) => isScalar(one.key) && one.key.value === key);
    const rest = addition.path.slice(depth + 1);
    if (map === null || pair === undefined) {
      return insertPair(text, map, key, nested(rest, addition));
    }
    const node = pair.value as Node | null;
    if (isAlias(node)) throw new YamlTextError(`${key} is written as an alias; change it by hand`);
    if (isEmpty(node)) {
      const [, , end] = (pair.key as Node).range ?? [0, 0, 0];
      const column = columnOf(text, (pair.key as Node).range?.[0] ?? 0);
      return map.flow === true
        ? insert(text, end, `${text[end] === ':' ? ':' : ''} ${flow(nested(rest, addition))}`)
        : insertLines(text, node?.range?.[0] ?? end, block(nested(rest, addition), column + 2));
    }
    if (rest.length > 0) {
      if (!isMap(node)) throw new YamlTextError(`${key} is no map of keys; change it by hand`);
      map = node;
      continue;
    }
    return addition.kind === 'append'
      ? appendItems(text, node, addition)
      : replaceScalar(text, node, addition.value);
  }
  return text;
}

function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.value === null && node.source === '');
}

/** Returns the value of the first missing key, including the nested addition. */
function nested(rest: readonly string[], addition: YamlAddition): unknown {
  const value = addition.kind === 'put' ? addition.value : [...addition.items];
  return rest.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
}

function appendItems(
  text: string,
  node: Node | null,
  { items, comment }: Extract<YamlAddition, { kind: 'append' }>,
): string {
  if (!isSeq(node)) throw new YamlTextError('a list is wanted where there is none');
  const start = node.range?.[0] ?? 0;
  const last = node.items.at(-1) as Node | undefined;
  if (node.flow === true) {
    const words = items.map((item) => flow(item)).join(', ');
    return last === undefined
      ? insert(text, start + 1, words)
      : insert(text, endOf(last), `, ${words}`);
  }
  const note = comment === undefined ? '' : ` # ${comment}`;
  const margin = ' '.repeat(columnOf(text, start));
  const lines = items.map((item) => `${margin}- ${flow(item)}${note}`);
  return insertLines(text, last === undefined ? start : endOf(last), lines.join('\n'));
}

function replaceScalar(text: string, node: Node | null, value: unknown): string {
  const [start, end] = node?.range ?? [0, 0];
  if (!isScalar(node)) throw new YamlTextError('one value is wanted where there are several');
  return text.slice(0, start) + flow(value) + text.slice(end);
}

function insertPair(text: string, map: YAMLMap | null, key: string, value: unknown): string {
  const last = map?.items.at(-1);
  if (map === null || last === undefined) {
    if (map?.flow === true) return insert(text, (map.range?.[0] ?? 0) + 1, pairInFlow(key, value));
    return insertLines(text, text.length, block({ [key]: value }, 0));
  }
  const end = endOf((last.value ?? last.key) as Node);
  if (map.flow === true) return insert(text, end, `, ${pairInFlow(key, value)}`);
  const column = columnOf(text, (last.key as Node).range?.[0] ?? 0);
  return insertLines(text, end, block({ [key]: value }, column));
}

/** Returns the end of a node without trailing blank lines and comments. */
function endOf(node: Node): number {
  if ((isMap(node) || isSeq(node)) && node.flow !== true) {
    const last: unknown = node.items.at(-1);
    const inner = isMap(node) ? (last as { key: Node; value: Node | null } | undefined) : undefined;
    const child = inner === undefined ? (last as Node | undefined) : (inner.value ?? inner.key);
    if (child !== undefined) return endOf(child);
  }
  return node.range?.[1] ?? 0;
}

function pairInFlow(key: string, value: unknown): string {
  return flow({ [key]: value }).slice(1, -1);
}

function flow(value: unknown): string {
  return stringify(value, {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
  }).trimEnd();
}

function block(value: unknown, margin: number): string {
  const lines = stringify(value, { lineWidth: 0 }).trimEnd().split('\n');
  return lines.map((line) => `${' '.repeat(margin)}${line}`).join('\n');
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

function insert(text: string, offset: number, words: string): string {
  return text.slice(0, offset) + words + text.slice(offset);
}

/** Inserts complete lines after the line that contains the end of a node. */
function insertLines(text: string, offset: number, lines: string): string {
  const isStart = offset === 0 || text[offset - 1] === '\n';
  const found = isStart ? offset : text.indexOf('\n', offset) + 1;
  const place = found === 0 && !isStart ? text.length : found;
  const before = text.slice(0, place);
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  return `${before}${gap}${lines}\n${text.slice(place)}`;
}
