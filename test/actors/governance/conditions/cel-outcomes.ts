import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { Environment } from '@marcbachmann/cel-js';

/** A case of the CEL specification, with its path such as `basic/self_eval_zeroish/self_eval_int_zero`. */
export interface CelCase {
  path: string;
  expr: string;
  given: Given;
}

type Value = Record<string, any>;

interface Given {
  value?: Value;
  evalError?: unknown;
  typedResult?: { result?: Value };
  bindings?: Record<string, { value?: Value; error?: unknown }>;
  typeEnv?: { name: string; ident?: { type: Value }; function?: unknown }[];
  checkOnly?: boolean;
  disableCheck?: boolean;
  container?: string;
}

interface Suite {
  name: string;
  tests?: readonly { original: { name: string; expr: string } }[];
  suites?: readonly Suite[];
}

/** Returns every case of the specification; cases with one path are numbered from 2. */
export function celCases(): CelCase[] {
  const counts = new Map<string, number>();
  return casesIn(tests as unknown as Suite, []).map((one) => {
    const count = (counts.get(one.path) ?? 0) + 1;
    counts.set(one.path, count);
    return count === 1 ? one : { ...one, path: `${one.path}#${count}` };
  });
}

function casesIn({ name, tests: own = [], suites = [] }: Suite, above: string[]): CelCase[] {
  const here = [...above, name];
  return [
    ...own.map(({ original: { name: test, expr, ...given } }) => ({
      path: [...here.slice(1), test].join('/'),
      expr,
      given: given as Given,
    })),
    ...suites.flatMap((suite) => casesIn(suite, here)),
  ];
}

/**
 * The library's result for a case: as specified, an error in place of a value, so that a condition fails closed, or
 * another value.
 */
export type CelOutcome = 'same' | 'error' | 'other';

/** Evaluates a case with the library. Never throws. */
export function outcomeOf({ expr, given }: CelCase): CelOutcome {
  const isFailing = given.evalError !== undefined;
  try {
    const { environment, values } = environmentOf(given);
    if (given.disableCheck !== true && !isFailing && !environment.check(expr).valid) return 'error';
    if (given.checkOnly === true) return 'same';
    const found = environment.parse(expr)(values);
    const wanted = given.value ?? given.typedResult?.result ?? { boolValue: true };
    return !isFailing && isSame(found, wanted) ? 'same' : 'other';
  } catch {
    return isFailing ? 'same' : 'error';
  }
}

function environmentOf({ typeEnv = [], bindings = {} }: Given) {
  const environment = new Environment({ homogeneousAggregateLiterals: false });
  const names = new Set([...typeEnv.map(({ name }) => name), ...Object.keys(bindings)]);
  for (const name of names) {
    const type = typeEnv.find((one) => one.name === name)?.ident?.type;
    environment.registerVariable(name, typeOf(type));
  }
  const values = Object.entries(bindings).map(([name, { value, error }]) => {
    if (value === undefined) throw new Error(`binding: ${JSON.stringify(error)}`);
    return [name, valueOf(value)];
  });
  return { environment, values: Object.fromEntries(values) };
}

const primitives: Record<string, string> = {
  ...{ BOOL: 'bool', INT64: 'int', UINT64: 'uint', DOUBLE: 'double', STRING: 'string' },
  BYTES: 'bytes',
};

function typeOf(type: Value | undefined): string {
  if (type?.['primitive'] !== undefined) return primitives[type['primitive']] ?? 'dyn';
  if (type?.['listType'] !== undefined) return `list<${typeOf(type['listType'].elemType)}>`;
  if (type?.['mapType'] !== undefined) {
    return `map<${typeOf(type['mapType'].keyType)}, ${typeOf(type['mapType'].valueType)}>`;
  }
  if (type?.['wellKnown'] === 'TIMESTAMP') return 'google.protobuf.Timestamp';
  if (type?.['wellKnown'] === 'DURATION') return 'google.protobuf.Duration';
  return 'dyn';
}

/** Evaluates a value of the specification as an expression, so that it has the types of the library. */
function valueOf(value: Value): unknown {
  return new Environment({ homogeneousAggregateLiterals: false }).evaluate(literalOf(value));
}

function literalOf(value: Value): string {
  const [[kind, content] = ['', null]] = Object.entries(value);
  switch (kind) {
    case 'nullValue':
      return 'null';
    case 'boolValue':
      return String(content ?? false);
    case 'int64Value':
      return String(content ?? 0);
    case 'uint64Value':
      return `${content ?? 0}u`;
    case 'doubleValue':
      return `double("${content ?? 0}")`;
    case 'stringValue':
      return JSON.stringify(content ?? '');
    case 'bytesValue':
      return bytesLiteral(String(content ?? ''));
    case 'listValue':
      return `[${(content.values ?? []).map(literalOf).join(', ')}]`;
    case 'mapValue':
      return `{${(content.entries ?? [])
        .map(
          (entry: { key: Value; value: Value }) =>
            `${literalOf(entry.key)}: ${literalOf(entry.value)}`,
        )
        .join(', ')}}`;
    case 'typeValue':
      return String(content);
    case 'objectValue':
      return objectLiteral(content);
    default:
      throw new Error(`unknown value ${kind}`);
  }
}

function objectLiteral(content: Value): string {
  switch (content['@type']) {
    case 'type.googleapis.com/google.protobuf.Timestamp':
      return `timestamp(${JSON.stringify(content['value'])})`;
    case 'type.googleapis.com/google.protobuf.Duration':
      return `duration(${JSON.stringify(content['value'])})`;
    default:
      throw new Error('the library knows no protobuf messages');
  }
}

function bytesLiteral(base64: string): string {
  const bytes = [...Buffer.from(base64, 'base64')];
  return `b"${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
}

/** Compares as CEL does, and also the type, which CEL ignores for numbers. */
function isSame(found: unknown, value: Value): boolean {
  const wanted = valueOf(value);
  if (typeof wanted === 'number' && Number.isNaN(wanted)) return Number.isNaN(found);
  if (typeof found !== typeof wanted) return false;
  const environment = new Environment()
    .registerVariable('found', 'dyn')
    .registerVariable('wanted', 'dyn');
  return (
    environment.evaluate('found == wanted && type(found) == type(wanted)', { found, wanted }) ===
    true
  );
}
