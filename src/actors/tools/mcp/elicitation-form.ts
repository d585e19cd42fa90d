import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { clean } from './checked-schema.ts';

/** Maximum fields of a form, choices of a field, and characters of a string in it. */
const [mostFields, mostChoices, longestText] = [20, 50, 300];

const fieldName = /^[A-Za-z0-9_.-]{1,64}$/;

const numbers = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;

/**
 * Reads the schema of a server's form: a flat object of texts, numbers, truth values and choices, as MCP allows. Returns
 * a schema of known keywords alone; `null` for any other schema.
 */
export function readForm(said: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(said ?? null)) return null;
  const { properties, required = [] } = said as JsonObject;
  if (!isJsonObject(properties ?? null)) return null;
  const entries = Object.entries(properties as JsonObject);
  if (entries.length > mostFields) return null;
  const fields: [string, JsonObject][] = [];
  for (const [name, schema] of entries) {
    const field = isJsonObject(schema) && fieldName.test(name) ? readField(schema) : null;
    if (field === null) return null;
    fields.push([name, field]);
  }
  const names = new Set(fields.map(([name]) => name));
  const needed = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === 'string' && names.has(name),
  );
  return { type: 'object', properties: Object.fromEntries(fields), required: needed };
}

/** Returns the default values of a form. */
export function defaultsOf({ properties }: JsonObject): JsonObject {
  const fields = Object.entries(properties as { [name: string]: JsonObject });
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      'default' in field ? [[name, field['default'] ?? null]] : [],
    ),
  );
}

/** Returns the problem with the given values of a form in one sentence; `null` if they fit. Missing values do. */
export function formFault({ properties = {} }: JsonObject, answer: JsonValue): string | null {
  if (!isJsonObject(answer)) return 'answer is no object of fields';
  const fields = properties as { [name: string]: JsonObject };
  for (const [name, value] of Object.entries(answer)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return `the question has no field ${name}`;
    if (!fits(field, value)) return `the field ${name} has another form; see its schema`;
  }
  return null;
}

/** Returns whether the values of a form are complete and fit. */
export function isComplete(form: JsonObject, answer: JsonObject): boolean {
  const needed = form['required'] as string[];
  return formFault(form, answer) === null && needed.every((name) => Object.hasOwn(answer, name));
}

function readField(said: JsonObject): JsonObject | null {
  const { type } = said;
  const words = ['title', 'description', 'format'].flatMap((key) => textIn(said, key));
  const limits = numbers.flatMap((key) =>
    typeof said[key] === 'number' ? [[key, said[key]]] : [],
  );
  const choices = choicesIn(type === 'array' ? said['items'] : said);
  const bare = Object.fromEntries([...words, ...limits]) as JsonObject;
  const field = fieldOf(type, choices, bare);
  if (field === null || !('default' in said)) return field;
  const value = said['default'] ?? null;
  return fits(field, value) ? { ...field, default: value } : field;
}

function fieldOf(
  type: JsonValue | undefined,
  choices: string[] | null,
  bare: JsonObject,
): JsonObject | null {
  switch (type) {
    case 'string':
      return { ...bare, type, ...(choices === null ? {} : { enum: choices }) };
    case 'number':
    case 'integer':
    case 'boolean':
      return { ...bare, type };
    case 'array':
      return choices === null ? null : { ...bare, type, items: { type: 'string', enum: choices } };
    default:
      return null;
  }
}

function textIn(said: JsonObject, key: string): [string, string][] {
  const text = said[key];
  return typeof text === 'string' ? [[key, clean(text).slice(0, longestText)]] : [];
}

/** Returns the choices of a field, of which a server may state titles too; `null` for none. */
function choicesIn(said: JsonValue | undefined): string[] | null {
  if (!isJsonObject(said ?? null)) return null;
  const { enum: plain, oneOf, anyOf } = said as JsonObject;
  const titled = [oneOf, anyOf].find(Array.isArray) ?? [];
  const values = Array.isArray(plain)
    ? plain
    : titled.map((one) => (isJsonObject(one) ? (one['const'] ?? null) : null));
  const isFit = values.length > 0 && values.length <= mostChoices;
  return isFit && values.every((one) => typeof one === 'string' && one.length <= longestText)
    ? (values as string[])
    : null;
}

function fits(field: JsonObject, value: JsonValue): boolean {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = field;
  const isWithin = (size: number, least?: JsonValue, most?: JsonValue) =>
    size >= ((least as number) ?? -Infinity) && size <= ((most as number) ?? Infinity);
  switch (type) {
    case 'string':
      return (
        typeof value === 'string' &&
        isChoice(field, value) &&
        isWithin(value.length, minLength, maxLength)
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return (
        Array.isArray(value) &&
        value.every(
          (one) => typeof one === 'string' && isChoice(field['items'] as JsonObject, one),
        ) &&
        isWithin(value.length, minItems, maxItems)
      );
    default:
      return (
        typeof value === 'number' &&
        (type === 'number' || Number.isSafeInteger(value)) &&
        isWithin(value, minimum, maximum)
      );
  }
}

function isChoice(field: JsonObject, value: string): boolean {
  const choices = field['enum'];
  return !Array.isArray(choices) || choices.includes(value);
}
