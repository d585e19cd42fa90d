import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { normalSchema } from './schema-keywords.ts';
import { UnfitToolError } from './unfit-tool.ts';

/** Maximum schemas folded into one root, since each may refer to others repeatedly. */
const mostFolds = 256;

/** Keywords at the root of a schema for which OpenAI and Anthropic refuse the whole request. */
const refusedAtRoot = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref']);

/**
 * Returns an object schema in a form that every MCP client and model provider accepts; most of them refuse all tools
 * because of one. A root that combines schemas is folded into a single one that accepts at least as much. `isBare`
 * omits texts. Throws UnfitToolError.
 */
export function objectSchema(said: JsonValue, { isBare = false } = {}): JsonObject {
  const root = normalSchema(rootOf(said), { isBare });
  const folded = new Fold(root).fold(root);
  if (folded === null) throw noArguments();
  const schema: JsonObject = { ...folded, type: 'object' };
  return normalSchema(schema, { leads: (ref) => leads(schema, ref) });
}

function rootOf(said: JsonValue): JsonObject {
  if (said === null) return {};
  if (isJsonObject(said)) return said;
  if (Array.isArray(said) && said.length === 0) return {};
  throw noArguments();
}

function noArguments(): UnfitToolError {
  return new UnfitToolError(
    'does not accept named arguments (its inputSchema has no type: object)',
  );
}

class Fold {
  readonly #root: JsonObject;
  readonly #followed = new Set<string>();
  #folds = 0;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** Returns a schema without keywords refused at the root; `null` if no object can match. */
  fold(said: JsonValue): JsonObject | null {
    this.#folds += 1;
    if (this.#folds > mostFolds) throw new UnfitToolError('has an inputSchema of too many parts');
    if (!isJsonObject(said)) return said === false ? null : {};
    if (!mayBeObject(said)) return null;
    const own = Object.entries(said).filter(([keyword]) => !refusedAtRoot.has(keyword));
    const { $ref: ref, allOf = [] } = said;
    const parts: (JsonObject | null)[] = [Object.fromEntries(own)];
    if (typeof ref === 'string') parts.push(this.#follow(ref));
    for (const one of allOf as JsonValue[]) parts.push(this.fold(one));
    for (const keyword of ['anyOf', 'oneOf']) {
      const choices = said[keyword];
      if (Array.isArray(choices)) parts.push(eitherOf(choices.map((one) => this.fold(one))));
    }
    return parts.reduce((all, part) => (all === null || part === null ? null : both(all, part)));
  }

  /** A schema's reference to itself adds no constraint. */
  #follow(ref: string): JsonObject | null {
    const found = schemaAt(this.#root, ref);
    if (found !== undefined) {
      if (this.#followed.has(ref)) return {};
      this.#followed.add(ref);
      const folded = this.fold(found);
      this.#followed.delete(ref);
      return folded;
    }
    throw new UnfitToolError('has an inputSchema that refers to a schema outside of it');
  }
}

function mayBeObject({ type }: JsonObject): boolean {
  return type === undefined || (Array.isArray(type) ? type.includes('object') : type === 'object');
}

/** Returns a schema for values that match both; if both define a keyword, the first wins. */
function both(a: JsonObject, b: JsonObject): JsonObject {
  const described = [a, b].filter((one) => one['properties'] !== undefined);
  const [{ additionalProperties: rest } = a, ...others] = described;
  const isShut = described.every((one) => one['additionalProperties'] === false);
  return withParts(
    { ...b, ...a },
    {
      properties: joined([a, b], 'properties', 'allOf'),
      $defs: joined([a, b], '$defs', null),
      definitions: joined([a, b], 'definitions', null),
      required: [...new Set([...requiredOf(a), ...requiredOf(b)])],
      additionalProperties: others.length === 0 ? rest : isShut ? false : undefined,
    },
  );
}

/** Returns a schema for values that match any of several; `null` if nothing can match any. */
function eitherOf(choices: readonly (JsonObject | null)[]): JsonObject | null {
  const left = choices.filter((one) => one !== null);
  const [first, ...others] = left;
  if (first === undefined || others.length === 0) return first ?? null;
  const isShut = left.every(
    (one) => one['additionalProperties'] === false && one['patternProperties'] === undefined,
  );
  return withParts(
    {},
    {
      properties: joined(left, 'properties', 'anyOf'),
      required: requiredOf(first).filter((name) =>
        others.every((one) => requiredOf(one).includes(name)),
      ),
      additionalProperties: isShut ? false : undefined,
    },
  );
}

/** Replaces keywords of a schema; an empty list and `undefined` are omitted. */
function withParts(
  schema: JsonObject,
  parts: { [keyword: string]: JsonValue | undefined },
): JsonObject {
  const kept = Object.entries(schema).filter(([keyword]) => !(keyword in parts));
  const put = Object.entries(parts).filter(
    (entry): entry is [string, JsonValue] =>
      entry[1] !== undefined && !(Array.isArray(entry[1]) && entry[1].length === 0),
  );
  return Object.fromEntries([...kept, ...put]);
}

/** Merges maps of schemas by name; duplicate names are combined by `union`, or the first wins. */
function joined(
  schemas: readonly JsonObject[],
  keyword: string,
  union: 'allOf' | 'anyOf' | null,
): JsonObject | undefined {
  const maps = schemas.map((one) => one[keyword] ?? null).filter(isJsonObject);
  const names = new Set(maps.flatMap((map) => Object.keys(map)));
  if (maps.length === 0) return undefined;
  const entries = [...names].map((name): [string, JsonValue] => {
    const said = maps.flatMap((map) => (Object.hasOwn(map, name) ? [map[name] ?? {}] : []));
    const [first = {}, ...others] = said.filter(
      (one, index) => said.findIndex((other) => isDeepStrictEqual(one, other)) === index,
    );
    return [name, others.length === 0 || union === null ? first : { [union]: [first, ...others] }];
  });
  return Object.fromEntries(entries);
}

function requiredOf({ required }: JsonObject): string[] {
  return (required ?? []) as string[];
}

/** Returns whether a `$ref` within a schema resolves, without a cycle. */
function leads(root: JsonObject, ref: string): boolean {
  const followed = new Set<string>();
  for (let next: JsonValue | undefined = ref; typeof next === 'string'; ) {
    if (followed.has(next)) return false;
    followed.add(next);
    const found = schemaAt(root, next);
    if (found === undefined) return false;
    next = isJsonObject(found) ? found['$ref'] : undefined;
  }
  return true;
}

/** Returns the target of a `$ref` within a schema. */
function schemaAt(root: JsonObject, ref: string): JsonValue | undefined {
  if (!/^#(?:\/|$)/.test(ref)) return undefined;
  let found: JsonValue | undefined = root;
  for (const step of ref.split('/').slice(1).map(unescaped)) {
    const within: JsonValue = found ?? null;
    if (typeof within !== 'object' || within === null || !Object.hasOwn(within, step))
      return undefined;
    found = (within as JsonObject)[step];
  }
  return typeof found === 'boolean' || isJsonObject(found) ? found : undefined;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
