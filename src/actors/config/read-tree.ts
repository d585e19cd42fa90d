import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { isExactNumber, isExactValue } from '../../machines/exact-number.ts';
import type { JsonObject, JsonValue } from '../../machines/json.ts';
import { cutToRunes } from '../../machines/text.ts';
import type { Path, Position } from './config-problem.ts';
import { expandVariables } from './expand-variables.ts';

/** The values of a YAML text with their positions. */
export interface Tree {
  value: JsonValue;
  /** Problems of the text itself, such as a duplicate key or a missing variable. */
  complaints: Complaint[];
  /** True if the document has too many values and was not read completely. */
  isCut: boolean;
  isWritten: (path: Path) => boolean;
  /** True if a value came wholly or partly from the environment. */
  isFilled: (path: Path) => boolean;
  /** Environment values that were inserted into a value. */
  filledAt: (path: Path) => readonly string[];
  /** The text at `path` as written in the file, before variable expansion; truncated if long. */
  textAt: (path: Path) => string;
  /** Position of the value at `path`; for a missing value, of its nearest parent. */
  locate: (path: Path) => Position;
  /** Position of the key at `path`. */
  locateKey: (path: Path) => Position;
}

export interface Complaint extends Position {
  path: Path;
  message: string;
  severity: 'error' | 'warning';
}

/** Maximum number of values, counting repetitions through aliases: a small text can expand to a huge value. */
const maximumValues = 20_000;

/** Maximum code points of a value quoted in a message. */
const longestQuote = 80;

const start: Position = { line: 1, column: 1 };

/**
 * Parses a string that `guardYaml` has accepted; on deeply nested text, `yaml` can crash the whole process. Expands
 * environment variables in string values.
 */
export function readTree(text: string, env: Readonly<Record<string, string | undefined>>): Tree {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    logLevel: 'silent',
    prettyErrors: false,
    uniqueKeys: false,
  });
  const reader = new TreeReader(document, counter, env);
  const value = reader.read();
  const { complaints, values, keys, filled } = reader;
  return {
    value,
    complaints,
    isCut: reader.isCut,
    isWritten: (path) => values.has(JSON.stringify(path)),
    isFilled: (path) => filled.has(JSON.stringify(path)),
    filledAt: (path) => filled.get(JSON.stringify(path)) ?? [],
    textAt: (path) => cutToRunes(reader.texts.get(JSON.stringify(path)) ?? '', longestQuote),
    locate: (path) => nearest(values, path),
    locateKey: (path) => keys.get(JSON.stringify(path)) ?? nearest(values, path),
  };
}

function nearest(positions: ReadonlyMap<string, Position>, path: Path): Position {
  for (let length = path.length; length >= 0; length -= 1) {
    const position = positions.get(JSON.stringify(path.slice(0, length)));
    if (position) return position;
  }
  return start;
}

/** A decimal number, as opposed to `0x10` and `0o7`. */
const decimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

class TreeReader {
  readonly complaints: Complaint[] = [];
  readonly values = new Map<string, Position>();
  readonly keys = new Map<string, Position>();
  readonly filled = new Map<string, readonly string[]>();
  readonly texts = new Map<string, string>();
  readonly #document: Document.Parsed;
  readonly #counter: LineCounter;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #targets = new Map<Alias, Node | undefined>();
  readonly #open = new Set<Node>();
  #count = 0;

  constructor(
    document: Document.Parsed,
    counter: LineCounter,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#document = document;
    this.#counter = counter;
    this.#env = env;
  }

  get isCut(): boolean {
    return this.#count > maximumValues;
  }

  read(): JsonValue {
    for (const { message, pos } of this.#document.errors) {
      this.#complain([], this.#at(pos[0]), `the file is not valid YAML: ${message}`);
    }
    for (const { message, pos } of this.#document.warnings) {
      this.complaints.push({ path: [], ...this.#at(pos[0]), message, severity: 'warning' });
    }
    return this.#value(this.#document.contents, [], start);
  }

  #value(node: Node | null, path: Path, fallback: Position): JsonValue {
    const position = node?.range ? this.#at(node.range[0]) : fallback;
    this.values.set(JSON.stringify(path), position);
    this.#count += 1;
    if (this.#count === maximumValues + 1) {
      const message = `the file holds more than ${maximumValues} values, those behind aliases counted; make it smaller`;
      this.#complain(path, position, message);
    }
    if (this.isCut || node === null) return null;
    if (this.#open.has(node)) {
      this.#complain(path, position, 'this alias contains itself; write the value out');
      return null;
    }
    this.#open.add(node);
    const value = this.#content(node, path, position);
    this.#open.delete(node);
    return value;
  }

  #content(node: Node, path: Path, position: Position): JsonValue {
    if (isAlias(node)) return this.#value(this.#target(node), path, position);
    if (isMap(node)) return this.#map(node as YAMLMap<Node, Node | null>, path);
    if (isSeq(node)) {
      return node.items.map((item, index) =>
        this.#value(item as Node | null, [...path, index], position),
      );
    }
    return isScalar(node) ? this.#scalar(node, path, position) : null;
  }

  #map(map: YAMLMap<Node, Node | null>, path: Path): JsonObject {
    const entries = new Map<string, JsonValue>();
    for (const pair of map.items) {
      const position = pair.key.range ? this.#at(pair.key.range[0]) : nearest(this.values, path);
      const key = this.#key(pair, path, position);
      if (key === null) continue;
      this.keys.set(JSON.stringify([...path, key]), position);
      if (entries.has(key)) {
        this.#complain([...path, key], position, `the key ${key} is written twice; keep one`);
      } else entries.set(key, this.#value(pair.value, [...path, key], position));
    }
    return Object.fromEntries(entries);
  }

  #key(pair: Pair<Node, Node | null>, path: Path, position: Position): string | null {
    const { value, source } = isScalar(pair.key) ? pair.key : {};
    // Uses the source text of a numeric key: a tool named 1e3 is not the tool 1000.
    const key = typeof value === 'number' ? source : value;
    if (typeof key === 'string' && key !== '__proto__') return key;
    this.#complain(path, position, 'this cannot be a key; write a plain word');
    return null;
  }

  #scalar({ value, source = '' }: Scalar, path: Path, position: Position): JsonValue {
    if (typeof value === 'string') return this.#string(value, path, position);
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) {
      if (decimal.test(source) ? isExactNumber(source) : isExactValue(value)) return value;
      const message = `the number ${source} cannot be read without changing it; put it in quotes`;
      this.#complain(path, position, message);
      return null;
    }
    this.#complain(
      path,
      position,
      'this value cannot be used; write text, a number, true or false',
    );
    return null;
  }

  #string(text: string, path: Path, position: Position): string {
    this.texts.set(JSON.stringify(path), text);
    if (namesVariable(path)) return text;
    const expansion = expandVariables(text, this.#env);
    for (const complaint of expansion.complaints) this.#complain(path, position, complaint);
    if (expansion.text !== text) this.filled.set(JSON.stringify(path), expansion.values);
    return expansion.text;
  }

  #target(alias: Alias): Node | null {
    if (!this.#targets.has(alias)) this.#targets.set(alias, alias.resolve(this.#document));
    return this.#targets.get(alias) ?? null;
  }

  #complain(path: Path, position: Position, message: string): void {
    this.complaints.push({ path, ...position, message, severity: 'error' });
  }

  #at(offset: number): Position {
    const { line, col } = this.#counter.linePos(offset);
    return { line, column: col };
  }
}

/** Prevents `token_env: ${TOKEN}` from inserting the secret itself in place of the variable's name. */
function namesVariable(path: Path): boolean {
  const key = path.at(-1);
  if (path[0] === 'settings') return typeof key === 'string' && key.endsWith('_env');
  const isSection = path[0] === 'auth' || path[0] === 'audit' || path[0] === 'server';
  return isSection && (key === 'token_env' || key === 'key_env');
}
