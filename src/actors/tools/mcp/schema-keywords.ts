import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/** Options for reading schemas. */
export interface Reading {
  /** Returns whether a `$ref` resolves to a schema; when absent, each one does. */
  leads?: (ref: string) => boolean;
  /** True omits texts and examples. */
  isBare?: boolean;
}

/**
 * Returns the valid part of a keyword's value; `undefined` if nothing remains, such as for a `null` in place of a list.
 */
type Reader = (value: JsonValue, reading: Reading) => JsonValue | undefined;

const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const text: Reader = (value) => (typeof value === 'string' ? value : undefined);
const number: Reader = (value) => (typeof value === 'number' ? value : undefined);
const flag: Reader = (value) => (typeof value === 'boolean' ? value : undefined);
const list: Reader = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);
const ref: Reader = (value, { leads = () => true }) =>
  typeof value === 'string' && leads(value) ? value : undefined;

/** PHP serialises an empty object as an empty list. */
const schema: Reader = (value, reading) => {
  if (typeof value === 'boolean') return value;
  if (isJsonObject(value)) return normalSchema(value, reading);
  return isEmptyList(value) ? {} : undefined;
};

const schemas: Reader = (value, reading) => {
  const read = (Array.isArray(value) ? value : [])
    .map((one) => schema(one, reading))
    .filter((one) => one !== undefined);
  return read.length > 0 ? read : undefined;
};

/** Not every consumer accepts a boolean schema for a property. */
const schemaMap: Reader = (value, reading) => {
  if (isEmptyList(value)) return {};
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    const read = schema(item, reading) ?? true;
    return [key, isJsonObject(read) ? read : read === true ? {} : { not: {} }];
  });
  return Object.fromEntries(entries);
};

const names: Reader = (value) => {
  const said = typeof value === 'string' ? [value] : Array.isArray(value) ? value : null;
  return said === null ? undefined : [...new Set(said.filter((one) => typeof one === 'string'))];
};

const type: Reader = (value) => {
  const said = (Array.isArray(value) ? value : [value])
    .map((one) => (typeof one === 'string' ? one.toLowerCase() : ''))
    .filter((one) => types.has(one));
  const [only, ...others] = new Set(said);
  if (only === undefined) return undefined;
  return Array.isArray(value) ? [only, ...others] : only;
};

/** In older drafts `items` may be a list of schemas. */
const items: Reader = (value, reading) => {
  if (!Array.isArray(value) || value.length === 0) return schema(value, reading);
  const anyOf = schemas(value, reading);
  return anyOf === undefined ? undefined : { anyOf };
};

/** Normalised keywords with their readers; all others are kept unchanged. */
const keywords: ReadonlyMap<string, Reader> = new Map(
  (
    [
      [text, '$schema $id $anchor $comment title description format pattern'],
      [number, 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength'],
      [number, 'minItems maxItems minContains maxContains minProperties maxProperties'],
      [flag, 'uniqueItems deprecated readOnly writeOnly'],
      [schema, 'not if then else contains propertyNames additionalProperties'],
      [schema, 'unevaluatedProperties unevaluatedItems'],
      [schemas, 'anyOf oneOf allOf prefixItems'],
      [schemaMap, 'properties patternProperties $defs definitions dependentSchemas'],
      [list, 'enum examples'],
      [ref, '$ref'],
      [names, 'required'],
      [type, 'type'],
      [items, 'items'],
    ] as const
  ).flatMap(([read, said]) => said.split(' ').map((keyword) => [keyword, read] as const)),
);

/** Keywords whose value may be `null`. */
const nullable: ReadonlySet<string> = new Set(['const', 'default']);

/** Keywords without effect on validation. */
const prose: ReadonlySet<string> = new Set([
  '$comment',
  'default',
  'description',
  'examples',
  'title',
]);

/**
 * Returns a server's schema with each keyword in a form that all consumers accept. The meaning is unchanged, except for
 * parts that no consumer could read. The caller must limit the depth.
 */
export function normalSchema(said: JsonObject, reading: Reading = {}): JsonObject {
  const read = new Map<string, JsonValue>();
  for (const [keyword, value] of Object.entries(said)) {
    if (reading.isBare === true && prose.has(keyword)) continue;
    const reader = keywords.get(keyword);
    const kept = reader === undefined ? value : reader(value, reading);
    if (kept !== undefined && (kept !== null || nullable.has(keyword))) read.set(keyword, kept);
  }
  const marked = markedRequired(said);
  if (marked.length > 0) {
    read.set('required', [...new Set([...((read.get('required') ?? []) as string[]), ...marked])]);
  }
  // OpenAI refuses an array without described items.
  if (!read.has('items') && !read.has('prefixItems') && isArray(read.get('type'))) {
    read.set('items', {});
  }
  return Object.fromEntries(read);
}

/** In draft 3 each property states whether it is required. */
function markedRequired({ properties = null }: JsonObject): string[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties)
    .filter(([, property]) => isJsonObject(property) && property['required'] === true)
    .map(([key]) => key);
}

function isArray(type: JsonValue | undefined): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array'));
}

function isEmptyList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length === 0;
}
