import { z } from 'zod';

/** Fields without a default. */
const ids: ReadonlySet<string> = new Set(['id', 'task_id']);

/** The value of a lenient schema: an enumeration or a literal can be any text. */
export type Lenient<Value> = Value extends string
  ? string
  : Value extends readonly (infer Item)[]
    ? Lenient<Item>[]
    : Value extends object
      ? { [Key in keyof Value]: Lenient<Value[Key]> }
      : Value;

/** The value of a loose schema: fields that are not needed can be missing. */
export type Loose<Value, Needed extends string> = Value extends string
  ? string
  : Value extends readonly (infer Item)[]
    ? Loose<Item, Needed>[]
    : Value extends object
      ? { [Key in keyof Value as Key extends Needed ? Key : never]: Loose<Value[Key], Needed> } & {
          [Key in keyof Value as Key extends Needed ? never : Key]?:
            | Loose<Value[Key], Needed>
            | undefined;
        }
      : Value;

/**
 * Returns a schema that reads a wire object of an untrusted sender. A missing or invalid field becomes empty, except for
 * IDs and required objects. Unknown fields are dropped.
 */
export function lenient<Value>(schema: z.ZodType<Value>): z.ZodType<Lenient<Value>> {
  const fieldOf: FieldOf = (key, field, relax) => {
    if (ids.has(key)) return field;
    if (isOptional(field)) return relax(field.unwrap()).optional().catch(undefined);
    const empty = emptyOf(field);
    return empty === null ? relax(field) : relax(field).catch(empty);
  };
  return relaxed(schema, z.object, fieldOf) as z.ZodType<Lenient<Value>>;
}

/**
 * Returns a schema that reads a wire object of another release. Only `needed` fields are required, at any depth. Unknown
 * fields pass.
 */
export function loose<Value, Needed extends string>(
  schema: z.ZodType<Value>,
  needed: readonly Needed[],
): z.ZodType<Loose<Value, Needed>> {
  const isNeeded: ReadonlySet<string> = new Set(needed);
  const fieldOf: FieldOf = (key, field, relax) => {
    if (isOptional(field)) return relax(field.unwrap()).optional();
    return isNeeded.has(key) ? relax(field) : relax(field).optional();
  };
  return relaxed(schema, z.looseObject, fieldOf) as z.ZodType<Loose<Value, Needed>>;
}

/** Converts one field of an object; `relax` converts the schema of its value. */
type FieldOf = (
  key: string,
  field: z.ZodType,
  relax: (schema: z.core.$ZodType) => z.ZodType,
) => z.ZodType;

/** Converts a schema in depth. A union of objects becomes one object with the fields of all. */
function relaxed(
  schema: z.core.$ZodType,
  object: typeof z.object | typeof z.looseObject,
  fieldOf: FieldOf,
): z.ZodType {
  const relax = (inner: z.core.$ZodType): z.ZodType => relaxed(inner, object, fieldOf);
  const ofShape = (shape: object): z.ZodType =>
    object(
      Object.fromEntries(
        Object.entries(shape).map(([key, field]) => [key, fieldOf(key, field as z.ZodType, relax)]),
      ),
    );
  if (schema instanceof z.ZodObject) return ofShape(schema.shape);
  if (schema instanceof z.ZodArray) return z.array(relax(schema.element));
  if (schema instanceof z.ZodNullable) return relax(schema.unwrap()).nullable();
  if (schema instanceof z.ZodUnion && schema.options.every((one) => one instanceof z.ZodObject)) {
    return ofShape(shapeOfAll(schema.options));
  }
  return isText(schema) ? z.string() : (schema as z.ZodType);
}

function shapeOfAll(options: readonly z.ZodObject[]): object {
  const fields = options.flatMap(({ shape }) => Object.entries(shape as z.ZodRawShape));
  return Object.fromEntries(
    fields.map(([key, field]) => {
      const isShared = options.every(({ shape }) => key in shape);
      return [key, isShared ? field : z.optional(field)];
    }),
  );
}

/** Returns the empty value of a required field; `null` for one without. */
function emptyOf(field: z.ZodType): (() => unknown) | null {
  if (field instanceof z.ZodISODateTime) return () => new Date(0).toISOString();
  if (isText(field)) return () => '';
  if (field instanceof z.ZodNumber) return () => Math.max(0, field.minValue ?? 0);
  if (field instanceof z.ZodNullable) return () => null;
  if (field instanceof z.ZodArray) return () => [];
  return field instanceof z.ZodRecord ? () => ({}) : null;
}

function isOptional(field: z.core.$ZodType): field is z.ZodOptional | z.ZodExactOptional {
  return field instanceof z.ZodOptional || field instanceof z.ZodExactOptional;
}

function isText(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodLiteral) return typeof schema.value === 'string';
  return (
    schema instanceof z.ZodString ||
    schema instanceof z.ZodStringFormat ||
    schema instanceof z.ZodEnum
  );
}
