import { Decimal } from 'decimal.js';
import jsep, {
  type BinaryExpression,
  type CallExpression,
  type Expression,
  type Identifier,
  type Literal,
  type UnaryExpression,
} from 'jsep';
import { type MathFunction, mathFunctions } from './math-functions.ts';
import type { Apart } from './run-apart.ts';

/** An expression without a value; the message gives the reason. */
class CalculationError extends Error {
  readonly code = 'calculation_failed';
}

/** Precision of IEEE 754 decimal128, with exponents small enough that no operation takes long. */
const format: Decimal.Config = {
  precision: 34,
  rounding: Decimal.ROUND_HALF_EVEN,
  maxE: 999,
  minE: -999,
  toExpNeg: -20,
  toExpPos: 34,
};

const constants = new Map([
  ['pi', '3.141592653589793238462643383279502884'],
  ['e', '2.718281828459045235360287471352662498'],
]);

type NumberOf = (digits: string) => Decimal;

/** Function name that marks parentheses, which the parser would drop. */
const group = '_group';

const operators = new Map<string, (left: Decimal, right: Decimal) => Decimal>([
  ['+', (left, right) => left.plus(right)],
  ['-', (left, right) => left.minus(right)],
  ['*', (left, right) => left.times(right)],
  ['/', (left, right) => left.dividedBy(right)],
  ['%', (left, right) => left.modulo(right)],
  ['^', (left, right) => left.pow(right)],
  ['**', (left, right) => left.pow(right)],
]);

jsep.addBinaryOp('^', 12, true);
jsep.addBinaryOp('**', 12, true);
jsep.removeAllLiterals();

/** Evaluates an expression; runs in a worker. */
export function calculated({ expression }: { expression: string }): Apart {
  try {
    return { text: calculate(expression) };
  } catch (error) {
    if (!(error instanceof CalculationError)) throw error;
    return { problem: error.message };
  }
}

/**
 * Evaluates an arithmetic expression in decimal numbers with 34 digits. The parser only builds a tree; names are looked
 * up only in the list of functions and constants. Throws a CalculationError.
 */
function calculate(text: string): string {
  const value = evaluated(parsed(text));
  if (value.isFinite()) return value.toString();
  throw new CalculationError('the expression has no finite value');
}

/** A Decimal class keeps a changed precision after an exception, so each expression gets its own class. */
function evaluated(expression: Expression): Decimal {
  const Own = Decimal.clone(format);
  try {
    return valueOf(expression, (digits) => new Own(digits));
  } catch (error) {
    if (!String(error).includes('[DecimalError]')) throw error;
    throw new CalculationError('a number in the expression is too large for its function');
  }
}

function parsed(text: string): Expression {
  const marked = text.replace(/(?<![\w.]\s*)\(/g, `${group}(`);
  try {
    return jsep(marked);
  } catch {
    throw new CalculationError('the expression cannot be read; write it like 2 * (3 + 4) ^ 2');
  }
}

function valueOf(expression: Expression, of: NumberOf): Decimal {
  switch (expression.type) {
    case 'Literal':
      return literal((expression as Literal).raw, of);
    case 'Identifier':
      return constant((expression as Identifier).name, of);
    case 'UnaryExpression':
      return unary(expression as UnaryExpression, of);
    case 'BinaryExpression':
      return binary(expression as BinaryExpression, of);
    case 'CallExpression':
      return call(expression as CallExpression, of);
    default:
      throw new CalculationError(
        'the expression holds something else than numbers, operators and functions',
      );
  }
}

function literal(raw: string, of: NumberOf): Decimal {
  if (/^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(raw)) return of(raw);
  throw new CalculationError('the expression holds something that is no decimal number');
}

function constant(name: string, of: NumberOf): Decimal {
  const digits = constants.get(name.toLowerCase());
  if (digits === undefined) throw unknown(name);
  return of(digits);
}

function unary(
  { operator, argument }: Pick<UnaryExpression, 'operator' | 'argument'>,
  of: NumberOf,
): Decimal {
  if (operator === '-') return valueOf(argument, of).negated();
  if (operator === '+') return valueOf(argument, of);
  throw new CalculationError(`the operator ${operator} is unknown`);
}

function binary({ operator, left, right }: BinaryExpression, of: NumberOf): Decimal {
  const operate = operators.get(operator);
  if (operate === undefined) throw new CalculationError(`the operator ${operator} is unknown`);
  const isPower = operator === '^' || operator === '**';
  // By convention -2 ^ 2 is -(2 ^ 2); the parser reads it differently.
  if (isPower && left.type === 'UnaryExpression') {
    const { operator: sign, argument } = left as UnaryExpression;
    const power = { ...left, type: 'BinaryExpression', operator, left: argument, right };
    return unary({ operator: sign, argument: power }, of);
  }
  return operate(valueOf(left, of), valueOf(right, of));
}

function call({ callee, arguments: given }: CallExpression, of: NumberOf): Decimal {
  const name = callee.type === 'Identifier' ? (callee as Identifier).name.toLowerCase() : '';
  const values = given.map((each) => valueOf(each, of));
  const [first] = values;
  if (name === group && first !== undefined && values.length === 1) return first;
  const known: MathFunction | undefined = mathFunctions.get(name);
  if (known === undefined) throw unknown(name === group || name === '' ? 'a call' : name);
  const [least, most] = known.takes;
  if (values.length < least || values.length > most) {
    const count = least === most ? `${least}` : `${least} to ${most}`;
    throw new CalculationError(`${name} takes ${most > 100 ? `${least} or more` : count} numbers`);
  }
  return known.of(values);
}

function unknown(name: string): CalculationError {
  const names = [...mathFunctions.keys(), ...constants.keys()].join(', ');
  return new CalculationError(`${name.slice(0, 40)} is unknown; known names are ${names}`);
}
