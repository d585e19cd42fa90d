import {
  hasRepeatedKey,
  inexactNumber,
  inexactSentence,
  measureJson,
  repeatedKey,
} from '../../../../machines/exact-json.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../../../machines/json.ts';

/** An argument of a call as a field of the editor. */
export interface ArgumentField {
  name: string;
  /** `json` for everything that no other kind fits. */
  kind: 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json';
  /** The texts of a choice. */
  choices: readonly string[];
  description: string;
  isRequired: boolean;
  /** True if the call has the argument. */
  isSent: boolean;
  /** The value as typed; `true` or `false` for a boolean. */
  text: string;
}

/** The arguments that the fields make, or the faults of fields by name. */
export type TypedArguments =
  | { args: Record<string, JsonValue>; faults: null }
  | { args: null; faults: ReadonlyMap<string, string> };

/** Returns the fields for the arguments of a call, by the JSON Schema of its tool; its own arguments come first. */
export function argumentFields(
  args: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>> = {},
): ArgumentField[] {
  const { properties, required } = schema;
  const known: Record<string, unknown> = isJsonObject(properties) ? properties : {};
  const names = new Set([...Object.keys(args), ...Object.keys(known)]);
  return [...names].map((name) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const property = Object.hasOwn(known, name) ? known[name] : undefined;
    const of = isJsonObject(property) ? property : {};
    const { choices, kind } = kindOf(of, value);
    return {
      ...{ name, kind, choices },
      description: typeof of['description'] === 'string' ? of['description'] : '',
      isRequired: Array.isArray(required) && required.includes(name),
      isSent: value !== undefined,
      text: textOf(kind, value, choices),
    };
  });
}

/** Returns the arguments that fields make. Numbers keep every digit. */
export function typedArguments(fields: readonly ArgumentField[]): TypedArguments {
  const args: [string, JsonValue][] = [];
  const faults = new Map<string, string>();
  for (const field of fields.filter(({ isSent }) => isSent)) {
    const read = valueOf(field);
    if ('fault' in read) faults.set(field.name, read.fault);
    else args.push([field.name, read.value]);
  }
  if (faults.size > 0) return { args: null, faults };
  return { args: Object.fromEntries(args), faults: null };
}

/** Returns the names of the fields whose value differs from that of the call. */
export function changedNames(
  args: Readonly<Record<string, unknown>>,
  fields: readonly ArgumentField[],
): string[] {
  return fields
    .filter((field) => {
      if (field.isSent !== Object.hasOwn(args, field.name)) return true;
      if (!field.isSent) return false;
      const read = valueOf(field);
      return 'fault' in read || !isEqual(read.value, args[field.name]);
    })
    .map(({ name }) => name);
}

function kindOf(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
): Pick<ArgumentField, 'kind' | 'choices'> {
  const { type, enum: options } = schema;
  const texts = Array.isArray(options) ? options.filter((one) => typeof one === 'string') : [];
  const isChoice = Array.isArray(options) && texts.length === options.length && texts.length > 0;
  const kind = isChoice ? 'choice' : (kinds.get(typeof type === 'string' ? type : '') ?? 'json');
  const isFitting = value === undefined || fits[kind](value, texts);
  return isFitting ? { kind, choices: isChoice ? texts : [] } : { kind: 'json', choices: [] };
}

const kinds = new Map<string, ArgumentField['kind']>([
  ['string', 'text'],
  ['integer', 'integer'],
  ['number', 'number'],
  ['boolean', 'boolean'],
]);

const fits: Record<ArgumentField['kind'], (value: unknown, choices: readonly string[]) => boolean> =
  {
    text: (value) => typeof value === 'string',
    integer: (value) => Number.isInteger(value),
    number: (value) => typeof value === 'number',
    boolean: (value) => typeof value === 'boolean',
    choice: (value, choices) => typeof value === 'string' && choices.includes(value),
    json: () => true,
  };

function textOf(kind: ArgumentField['kind'], value: unknown, choices: readonly string[]): string {
  if (value === undefined) return kind === 'boolean' ? 'false' : (choices[0] ?? '');
  if (typeof value === 'string' && kind !== 'json') return value;
  return JSON.stringify(value, null, 2);
}

function valueOf({ kind, text }: ArgumentField): { value: JsonValue } | { fault: string } {
  if (kind === 'text' || kind === 'choice') return { value: text };
  if (kind === 'boolean') return { value: text === 'true' };
  const value = parseJson(text);
  if (value === undefined) {
    return { fault: kind === 'json' ? 'Enter valid JSON.' : 'Enter a number, such as 12.5.' };
  }
  const inexact = inexactNumber(text);
  if (inexact !== null) return { fault: `${inexactSentence(inexact)}.` };
  if (hasRepeatedKey(value, measureJson(text))) return { fault: `${repeatedKey}.` };
  if (kind === 'json') return { value };
  if (typeof value !== 'number') return { fault: 'Enter a number, such as 12.5.' };
  if (kind === 'integer' && !Number.isInteger(value)) return { fault: 'Enter a whole number.' };
  return { value };
}

function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  }
  if (isJsonObject(one) && isJsonObject(other)) {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]))
    );
  }
  return Object.is(one, other);
}
