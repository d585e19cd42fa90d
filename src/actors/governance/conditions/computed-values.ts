import { type ASTNode, evaluate } from '@marcbachmann/cel-js';
import { childrenOf, type ExpressionFault } from './expression-limits.ts';

/** Maximum duration in seconds: 10,000 years, as in the specification of CEL. */
const longestDuration = 315_576_000_000n;

const earliest = Date.parse('0001-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

// The library does not export the classes of its values.
const classOf = (literal: string) => (evaluate(literal) as object).constructor as new () => object;
const UnsignedInt = classOf('0u');
const Duration = classOf('duration("0s")') as new () => { seconds: bigint };

/** The texts that `int` and `double` convert. */
const numerals: Readonly<Record<string, RegExp>> = {
  int: /^-?\d{1,16}$/,
  double: /^-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?$/,
};

/**
 * Returns the first part of an expression in which the library differs from CEL for every value: unsigned numbers, and
 * maps with keys that are not different texts. `null` if there is none.
 */
export function vagueValueFault(node: ASTNode): ExpressionFault | null {
  const { op, args, pos: at } = node;
  const isUnsigned =
    (op === 'value' && args instanceof UnsignedInt) || (op === 'call' && args[0] === 'uint');
  if (isUnsigned) return { message: 'unsigned numbers are not supported; use int', at };
  if (op === 'map') {
    const keys = args.map(([key]) => (key.op === 'value' ? key.args : null));
    if (new Set(keys).size < keys.length || keys.some((key) => typeof key !== 'string')) {
      return { message: 'the keys of a map must be different texts in quotes', at };
    }
  }
  for (const child of childrenOf(node)) {
    const found = vagueValueFault(child);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Makes the evaluation of an expression fail at a value that the library cannot compare: not a number, infinite, an
 * integer beyond 2^53, a time or duration out of range, or a text that is no number. Such a comparison would be false,
 * so that an argument could switch off a rule.
 */
export function failAtVagueValues(node: ASTNode): void {
  for (const child of childrenOf(node)) failAtVagueValues(child);
  const { op, args } = node;
  if (op !== 'value') guard(node, isVague);
  const [numeral] = op === 'call' ? [numerals[args[0]]] : [];
  const [converted] = op === 'call' ? args[1] : [];
  if (numeral !== undefined && converted !== undefined) {
    guard(converted, (value) => typeof value === 'string' && !numeral.test(value));
  }
  // The library converts a list of one text to that text, and finds it as a key.
  if (op === 'in') guard(args[0], isComposite);
  if (op === '[]') guard(args[1], isComposite);
}

function isVague(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value === 'bigint') return !Number.isSafeInteger(Number(value));
  if (value instanceof Date) return !(value.getTime() >= earliest && value.getTime() <= latest);
  if (!(value instanceof Duration)) return false;
  return value.seconds > longestDuration || value.seconds < -longestDuration;
}

function isComposite(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

type Evaluate = (...parts: unknown[]) => unknown;

/** The library replaces the method at its first call, so a replacement is guarded as well. */
function guard(node: ASTNode, isBad: (value: unknown) => boolean): void {
  const evaluated = node as ASTNode & { evaluate: Evaluate };
  let inner = evaluated.evaluate;
  const guarded: Evaluate = (...parts) => {
    const value = inner.apply(node, parts);
    if (isBad(value)) throw new RangeError('a value cannot be compared');
    return value;
  };
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => guarded,
    set: (replacement: Evaluate) => {
      inner = replacement;
    },
  });
}
