import { type ASTNode, evaluate } from '@marcbachmann/cel-js';
import { childrenOf, type ExpressionFault, isMacro } from './expression-limits.ts';

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
 * Makes the evaluation of an expression fail where a value would switch off a rule: at a value that the library cannot
 * compare (not a number, infinite, an integer beyond 2^53, a time or duration out of range, a string that is no number),
 * at a value of another type than the operation expects, and beyond the budget.
 */
export function failAtVagueValues(node: ASTNode, budget: Budget): void {
  for (const child of childrenOf(node)) failAtVagueValues(child, budget);
  const { op, args } = node;
  if (op === '==' || op === '!=') compareAlike(node);
  if (op === 'in') searchAlike(node);
  if (op === 'call' && args[0] === 'has') selectFromMaps(node);
  if (op !== 'value') {
    guard(node, (value) => {
      budget.spend(value);
      return isVague(value);
    });
  }
  const [numeral] = op === 'call' ? [numerals[args[0]]] : [];
  const [converted] = op === 'call' ? args[1] : [];
  if (numeral !== undefined && converted !== undefined) {
    guard(converted, (value) => typeof value === 'string' && !numeral.test(value));
  }
  // Over a map, a macro would see the keys alone.
  if (op === 'rcall' && isMacro(node)) guard(args[1], (value) => !Array.isArray(value));
  // The library converts a list of one string to that string, and finds it as a key.
  if (op === 'in') guard(args[0], isComposite);
  if (op === '[]') guard(args[1], isComposite);
}

/** Limits the time of one evaluation, whose values a caller makes long. A unit is about 0.1 µs. */
export class Budget {
  #left = 0;

  /** Starts an evaluation. */
  reset(): void {
    this.#left = 500_000;
  }

  /** Counts a value that the expression has read or computed. Throws a RangeError beyond the limit. */
  spend(value: unknown): void {
    const length = typeof value === 'string' ? value.length / 16 : lengthOf(value);
    this.#left -= 1 + length;
    if (this.#left < 0) throw new RangeError('the values are too long for a condition');
  }
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/** Two values of different types are not different: the comparison has no answer. `null` may be written as a literal. */
function compareAlike(node: ASTNode): void {
  const [first, second] = node.args as [ASTNode, ASTNode];
  if ([first, second].some(({ op, args }) => op === 'value' && args === null)) return;
  withOperands(node, (left, right) => {
    if (!isAlike(left, right)) throw new TypeError('values of different types cannot be compared');
  });
}

/** A list that holds a value of another type may hold the wanted one in a form that is not found. */
function searchAlike(node: ASTNode): void {
  withOperands(node, (wanted, list, isFound) => {
    if (isFound === true || !Array.isArray(list)) return;
    if (list.some((element) => !isAlike(wanted, element))) {
      throw new TypeError('the list has values of another type');
    }
  });
}

/** `has(a.b)` has no answer if `a` is no map: the library finds nothing in a list or a string. */
function selectFromMaps(node: ASTNode): void {
  const [, [selected]] = node.args as ['has', [ASTNode]];
  const members: { name: unknown; at: ASTNode }[] = [];
  let root = selected;
  for (; root.op === '.'; root = root.args[0]) members.unshift({ name: root.args[1], at: root });
  wrapped(node, (inner) => (evaluator, ast, context) => {
    let value = evaluator.run(root, context);
    for (const { name, at } of members) {
      const type = evaluator.debugType(value);
      if (type.kind !== 'map' && type.kind !== 'message') {
        throw new TypeError('has() of a value that is no map');
      }
      value = type.fieldLazy(value, name, at, evaluator);
      if (value === undefined) break;
    }
    return inner.call(node, evaluator, ast, context);
  });
}

/** Compares kinds to the last member; a member that one value lacks makes them different, not incomparable. */
function isAlike(left: unknown, right: unknown): boolean {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  if (kind === 'list') {
    const [one, other] = [left, right] as [unknown[], unknown[]];
    return one.length !== other.length || one.every((each, index) => isAlike(each, other[index]));
  }
  if (kind !== 'map') return true;
  const [one, other] = [left, right] as Record<string, unknown>[];
  return Object.entries(one ?? {}).every(
    ([name, each]) => !Object.hasOwn(other ?? {}, name) || isAlike(each, other?.[name]),
  );
}

/** Integers and doubles are numbers of one kind. */
function kindOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'number';
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return 'list';
  return [Date, Duration, Uint8Array].find((one) => value instanceof one) ?? 'map';
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

interface Evaluator {
  run(node: unknown, context: unknown): unknown;
  debugType(value: unknown): {
    kind: string;
    /** Returns a member of a value of this type; `undefined` if it is absent. */
    fieldLazy(value: unknown, name: unknown, node: ASTNode, evaluator: Evaluator): unknown;
  };
}

/** Evaluates a node of an expression for the variables of a context. */
type Evaluate = (evaluator: Evaluator, node: ASTNode, context: unknown) => unknown;

function guard(node: ASTNode, isBad: (value: unknown) => boolean): void {
  wrapped(node, (inner) => (...parts) => {
    const value = inner.apply(node, parts);
    if (isBad(value)) throw new RangeError('a value cannot be compared');
    return value;
  });
}

/** Passes the operands and the value of an operator to a check, which throws. */
function withOperands(
  node: ASTNode,
  check: (left: unknown, right: unknown, value: unknown) => void,
): void {
  wrapped(node, () => (evaluator, ast, context) => {
    const { left, right, handle } = ast as unknown as CheckedOperator;
    const [one, other] = [evaluator.run(left, context), evaluator.run(right, context)];
    const value = handle(one, other, ast, evaluator);
    check(one, other, value);
    return value;
  });
}

/** An operator with the parts that the library adds before the first evaluation. */
interface CheckedOperator {
  left: ASTNode;
  right: ASTNode;
  handle: (left: unknown, right: unknown, node: ASTNode, evaluator: Evaluator) => unknown;
}

type Wrap = (inner: Evaluate) => Evaluate;

const wraps = new WeakMap<ASTNode, Wrap[]>();

/** The library replaces the method at its first call, so each replacement is wrapped as well. */
function wrapped(node: ASTNode, wrap: Wrap): void {
  const known = wraps.get(node);
  if (known !== undefined) {
    known.push(wrap);
    return;
  }
  const layers = [wrap];
  wraps.set(node, layers);
  let inner = (node as ASTNode & { evaluate: Evaluate }).evaluate;
  let outer: Evaluate | null = null;
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => (outer ??= layers.reduce((made, layer) => layer(made), inner)),
    set: (replacement: Evaluate) => {
      inner = replacement;
      outer = null;
    },
  });
}
