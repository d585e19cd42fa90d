import {
  Ajv2020,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import canonicalize from 'canonicalize';
import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { linearPattern } from '../../governance/governance.ts';
import { ToolError } from '../../ports/tool.ts';

/** A compiled JSON Schema of arguments. */
export type CompiledSchema = ValidateFunction;

/** An unusable schema; the message gives the reason. */
export class SchemaError extends Error {
  readonly code = 'schema_invalid';
}

const options: Options = {
  strict: false,
  logger: false,
  validateFormats: false,
  ownProperties: true,
  addUsedSchema: false,
  // Most schemas check few calls, so optimising their code does not pay. Arguments and patterns are untrusted: patterns
  // are matched in linear time, or the schema is refused.
  code: { optimize: false, regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
};

/** Compares in linear time, where Ajv compares all pairs of items. */
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

/** For schemas known to be valid; compiling the meta-schema would take longer than all of them. */
const plain = ajvWith({ meta: false, validateSchema: false });

let strict: Ajv2020 | undefined;

/**
 * Checks that a user-written JSON Schema (draft 2020-12) is valid and can be compiled.
 *
 * Only references within the schema are resolved; nothing is fetched. Throws a SchemaError that names the location.
 */
export function checkSchema(schema: JsonObject): void {
  strict ??= ajvWith({});
  compileWith(strict, schema);
}

/** Compiles a trusted or already checked JSON Schema for repeated use. Throws a SchemaError. */
export function compileSchema(schema: JsonObject): CompiledSchema {
  return compileWith(plain, schema);
}

/** Returns a function that compiles a schema on first use and caches it. */
export function compileLater(schema: JsonObject): () => CompiledSchema {
  let compiled: CompiledSchema | undefined;
  return () => (compiled ??= compileSchema(schema));
}

function compileWith(ajv: Ajv2020, schema: JsonObject): CompiledSchema {
  const { $schema: _dialect, ...own } = schema;
  // The result of an asynchronous schema is a promise, which would count as valid.
  if ('$async' in own) throw new SchemaError('$async is not supported; leave it out');
  try {
    return ajv.compile(own);
  } catch (error) {
    throw new SchemaError(whyUnusable(error, ajv.errors ?? []), { cause: error });
  } finally {
    ajv.removeSchema(own);
  }
}

/** Returns the first fault and its location; the faults of alternatives only repeat it. */
function whyUnusable(error: unknown, [first]: readonly ErrorObject[]): string {
  const reason = messageOf(error);
  if (first === undefined || !reason.startsWith('schema is invalid')) return reason;
  const place = pathOf(first).join('.');
  const allowed = (first.params as Record<string, unknown>)['allowedValues'];
  return Array.isArray(allowed)
    ? `${place} must be one of ${allowed.join(', ')}`
    : `${place} ${first.message ?? 'is not valid'}`;
}

/** Validates a call's arguments without changing them. Throws a ToolError that names the invalid argument. */
export function validateArguments(tool: string, schema: CompiledSchema, args: JsonObject): void {
  const problem = checkArguments(tool, schema, args);
  if (problem !== null) throw new ToolError(problem, { kind: 'invalid arguments' });
}

/** Returns in one sentence which argument of a call is invalid and why; `null` if all are valid. */
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
