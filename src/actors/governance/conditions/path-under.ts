import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { childrenOf } from './expression-limits.ts';

/** The type of `path` in conditions, which has the functions on paths. */
export class Path {}

/**
 * Returns whether an absolute path is a folder or lies below it. Links are not followed. Throws for a path whose place the
 * text does not determine: a relative one, one with `..`, a backslash or a control character, or one with a URL's `%`.
 */
export function isUnder(path: string, base: string): boolean {
  const [parts, folder] = [partsOf(path), partsOf(base)];
  return folder.every((name, index) => parts[index] === name);
}

/** A comparison of the beginning of a path, which `..` evades. */
export interface ComparedPath {
  /** The argument as written, such as `args.path`. */
  argument: string;
  base: string;
  /** Position in the text, from 0. */
  at: number;
}

/**
 * Returns the arguments whose beginning an expression compares with a path. One whose `..` the expression looks for is
 * left out. An expression that cannot be parsed has none.
 */
export function comparedPaths(text: string): ComparedPath[] {
  try {
    const { ast } = new Environment().parse(text);
    const calls = callsIn(ast);
    const isSearched = (argument: string) =>
      calls.some((call) => call.name === 'contains' && call.on === argument && call.text === '..');
    return calls.flatMap(({ name, on, text: base, at }) =>
      name === 'startsWith' && /^[/~.]/.test(base) && on.startsWith('args') && !isSearched(on)
        ? [{ argument: on, base, at }]
        : [],
    );
  } catch {
    return [];
  }
}

/** Returns the methods that are called with a literal string, and the values that they are called on. */
function callsIn(node: ASTNode): { name: string; on: string; text: string; at: number }[] {
  const inside = childrenOf(node).flatMap(callsIn);
  if (node.op !== 'rcall') return inside;
  const [name, receiver, [operand]] = node.args;
  if (operand?.op !== 'value' || typeof operand.args !== 'string') return inside;
  const on = node.input.slice(receiver.start, receiver.end);
  return [...inside, { name, on, text: operand.args, at: node.pos }];
}

function partsOf(path: string): string[] {
  if (!path.startsWith('/')) throw new RangeError('the path is not absolute');
  if (/[\\%\p{Cc}]/u.test(path))
    throw new RangeError('the path has a character that programs change');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new RangeError('the path has ..');
  return parts;
}
