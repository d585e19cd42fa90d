import {
  Ajv2020,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import canonicalize from 'canonicalize';
import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import { linearPattern } from '../../governance/governance.ts';
import { ToolError } from '../../ports.ts';

/** A JSON Schema of arguments, ready to check them. */
export type CompiledSchema = ValidateFunction;

/** A schema that cannot be used; the message says why. */
export class SchemaError extends Error {
  readonly code = 'schema_invalid';
}

const options: Options = {
  strict: false,
  logger: false,
  validateFormats: false,
  ownProperties: true,
  addUsedSchema: false,
  // Most schemas check a few calls, so that code is not worth being shortened first.
  // Arguments are a stranger's and patterns anybody's: both meet in linear time, or a schema is refused.
  code: { optimize: false, regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
};

/** Compares in linear time, where Ajv compares each item with each other one. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  validate: (isWanted: boolean, items: JsonValue[]) =>
    !isWanted || new Set(items.map((item) => canonicalize(item))).size === items.length,
};

function ajvWith(more: Options): Ajv2020 {
  return new Ajv2020({ ...options, ...more }).removeKeyword('uniqueItems').addKeyword(uniqueItems);
}

/** Compiles what is known to be a schema; the schema of schemas alone would take longer than all of them. */
const plain = ajvWith({ meta: false, validateSchema: false });

let strict: Ajv2020 | undefined;

/**
 * Checks that a JSON Schema (draft 2020-12) somebody wrote is one and can be compiled.
 *
 * Only references inside the schema are followed; nothing is fetched. Throws a SchemaError that names the place.
 */
export function checkSchema(schema: JsonObject): void {
  strict ??= ajvWith({});
  compileWith(strict, schema);
}

/** Compiles a JSON Schema of the product's own, or one that was checked, for many checks. Throws a SchemaError. */
export function compileSchema(schema: JsonObject): CompiledSchema {
  return compileWith(plain, schema);
}

/** Returns a function that compiles a schema when it is first asked for it, and then returns the same. */
export function compileLater(schema: JsonObject): () => CompiledSchema {
  let compiled: CompiledSchema | undefined;
  return () => (compiled ??= compileSchema(schema));
}

function compileWith(ajv: Ajv2020, schema: JsonObject): CompiledSchema {
  const { $schema: _dialect, ...own } = schema;
  // An asynchronous schema answers with a promise, which would read as "valid".
  if ('$async' in own) throw new SchemaError('$async is not supported; leave it out');
  try {
    return ajv.compile(own);
  } catch (error) {
    throw new SchemaError(whyUnusable(error, ajv.errors ?? []), { cause: error });
  } finally {
    ajv.removeSchema(own);
  }
}

/** The first of what is wrong and its place in the schema: alternatives that do not fit either only repeat it. */
function whyUnusable(error: unknown, [first]: readonly ErrorObject[]): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (first === undefined || !reason.startsWith('schema is invalid')) return reason;
  const place = pathOf(first).join('.');
  const allowed = (first.params as Record<string, unknown>)['allowedValues'];
  return Array.isArray(allowed)
    ? `${place} must be one of ${allowed.join(', ')}`
    : `${place} ${first.message ?? 'is not valid'}`;
}

/** Checks a call's arguments and leaves them as they are. Throws a ToolError that names the argument at fault. */
export function validateArguments(tool: string, schema: CompiledSchema, args: JsonObject): void {
  const problem = checkArguments(tool, schema, args);
  if (problem !== null) throw new ToolError(problem, { kind: 'invalid arguments' });
}

/** Returns which argument of a call is at fault and why, in one sentence; `null` when none is. */
export function checkArguments(
  tool: string,
  schema: CompiledSchema,
  args: JsonObject,
): string | null {
  if (schema(args)) return null;
  const error = schema.errors?.at(-1);
  return `${tool}: ${error ? sentence(error) : 'the arguments are not valid'}`;
}

function pathOf({ instancePath }: ErrorObject): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function sentence(error: ErrorObject): string {
  const path = pathOf(error);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return `argument ${[...path, params['missingProperty']].join('.')} is missing`;
    case 'additionalProperties':
      return `argument ${[...path, params['additionalProperty']].join('.')} is not known`;
    case 'enum':
      return `${subject(path)} must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    default:
      return `${subject(path)} ${error.message ?? 'is not valid'}`;
  }
}

function subject(path: string[]): string {
  return path.length === 0 ? 'the arguments' : `argument ${path.join('.')}`;
}
