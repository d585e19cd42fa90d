import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/** Returns whether a schema lists the arguments that a call may have. */
export function listsArguments(schema: JsonObject): boolean {
  const parts = partsOf(schema, schema);
  return namesIn(parts).size > 0 || parts.some((part) => part['additionalProperties'] === false);
}

/**
 * Returns whether a schema names every argument of a call, also inside of objects and lists of objects, with any
 * `additionalProperties`. Objects for which the schema names no members may have any.
 */
export function namesEveryArgument(schema: JsonObject, args: JsonObject): boolean {
  return isNamed(partsOf(schema, schema), args, schema);
}

/**
 * Returns whether a call of a tool with this schema may have an argument at a path of names and indexes. Objects for which
 * the schema names no members may have any.
 */
export function namesArgument(schema: JsonObject, path: readonly string[]): boolean {
  let parts = partsOf(schema, schema);
  for (const name of path) {
    const names = namesIn(parts);
    const lists = parts.flatMap(({ items, prefixItems }) => [
      ...(items === undefined ? [] : [items]),
      ...(Array.isArray(prefixItems) ? prefixItems : []),
    ]);
    const isIndex = /^\d+$/.test(name) && lists.length > 0;
    if (names.size > 0 && !names.has(name) && !isIndex) return false;
    parts = [
      ...parts.map(({ properties }) => ownMember(properties, name)),
      ...(isIndex ? lists : []),
    ].flatMap((part) => partsOf(part, schema));
  }
  return true;
}

function isNamed(parts: readonly JsonObject[], value: JsonValue, root: JsonObject): boolean {
  const below = (pick: (part: JsonObject) => JsonValue | undefined) =>
    parts.flatMap((part) => partsOf(pick(part), root));
  if (Array.isArray(value)) {
    return value.every((item, index) =>
      isNamed(
        below(({ items, prefixItems }) =>
          Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items,
        ),
        item,
        root,
      ),
    );
  }
  if (!isJsonObject(value)) return true;
  const names = namesIn(parts);
  return Object.entries(value).every(
    ([name, member]) =>
      (names.size === 0 || names.has(name)) &&
      isNamed(
        below(({ properties }) => ownMember(properties, name)),
        member,
        root,
      ),
  );
}

function namesIn(parts: readonly JsonObject[]): Set<string> {
  return new Set(
    parts.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : [])),
  );
}

/** Returns a schema with the schemas that it combines, each once. */
function partsOf(
  schema: JsonValue | undefined,
  root: JsonObject,
  found = new Set<JsonObject>(),
): JsonObject[] {
  if (!isJsonObject(schema) || found.has(schema)) return [...found];
  found.add(schema);
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    const { [key]: branches } = schema;
    if (Array.isArray(branches)) for (const branch of branches) partsOf(branch, root, found);
  }
  const { $ref: reference } = schema;
  if (typeof reference === 'string') partsOf(referredTo(reference, root), root, found);
  return [...found];
}

/** Returns the schema that a reference inside of a document names. */
function referredTo(reference: string, root: JsonObject): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  const steps = reference.slice(1).split('/').slice(1);
  return steps.reduce<JsonValue | undefined>(
    (value, step) => ownMember(value, step.replaceAll('~1', '/').replaceAll('~0', '~')),
    root,
  );
}

function ownMember(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
