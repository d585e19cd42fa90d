import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/** The type of a value in an expression: a name of CEL, or the types of an object's members. */
export type CelType = string | { [member: string]: CelType };

/** A member name that an expression can write after a dot. */
const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Nested objects below this depth have members of any type. */
const deepest = 8;

/** Returns the type of arguments by the JSON Schema of their tool; members without one type have any. */
export function typesOf(schema: JsonObject): { [member: string]: CelType } {
  const type = typeOf(schema, deepest);
  return typeof type === 'string' ? {} : type;
}

function typeOf(schema: JsonValue | undefined, depth: number): CelType {
  if (!isJsonObject(schema)) return 'dyn';
  switch (schema['type']) {
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'array':
      return 'list<dyn>';
    case 'object': {
      const { properties } = schema;
      if (!isJsonObject(properties) || depth === 0) return 'map<string, dyn>';
      const members = Object.entries(properties).filter(([name]) => identifier.test(name));
      return Object.fromEntries(members.map(([name, of]) => [name, typeOf(of, depth - 1)]));
    }
    default:
      return 'dyn';
  }
}

/** Converts arguments to values of their types; a whole number of an `int` becomes one, anything else stays. */
export function valuesOf(args: JsonObject, types: { [member: string]: CelType }): object {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]): [string, unknown] => {
      const type = Object.hasOwn(types, name) ? types[name] : undefined;
      if (type === 'int' && Number.isInteger(value)) return [name, BigInt(value as number)];
      const isNested = typeof type === 'object' && isJsonObject(value);
      return [name, isNested ? valuesOf(value, type) : value];
    }),
  );
}
