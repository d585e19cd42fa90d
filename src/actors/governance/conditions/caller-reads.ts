import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import { childrenOf, type ExpressionFault } from './expression-limits.ts';

/** Returns what conditions read of their caller. A condition that cannot be parsed reads nothing. */
export function callerReads(conditions: readonly string[]): CallerReads {
  const trees = conditions.flatMap((text) => {
    try {
      return [new Environment().parse(text).ast];
    } catch {
      return [];
    }
  });
  return {
    groups: trees.some((tree) => hasNode(tree, (node) => memberOf(node) === 'groups')),
    claims: new Set(trees.flatMap(claimNames)),
  };
}

/** Returns the first use of `caller.claims` that names no claim, since then no claim would be stored for it. */
export function unnamedClaims(node: ASTNode): ExpressionFault | null {
  if (memberOf(node) === 'claims') return { message: unnamed, at: node.pos };
  if (nameIn(node) !== null) return null;
  for (const child of childrenOf(node)) {
    const found = unnamedClaims(child);
    if (found !== null) return found;
  }
  return null;
}

const unnamed = 'name the claim, such as caller.claims.department or "roles" in caller.claims';

/** Returns whether a condition reads nothing but the arguments and the name of the tool; false for one with a fault. */
export function readsCallOnly(condition: string): boolean {
  try {
    return !hasNode(new Environment().parse(condition).ast, ({ op, args }) => {
      return op === 'id' && !ofCall.has(args as string);
    });
  } catch {
    return false;
  }
}

/** Every other variable may change while a call waits, or is one of a macro. */
const ofCall: ReadonlySet<string> = new Set(['args', 'tool', 'path']);

function claimNames(node: ASTNode): string[] {
  const name = nameIn(node);
  return name === null ? childrenOf(node).flatMap(claimNames) : [name];
}

/** Returns the claim that a node reads: `caller.claims.NAME`, `caller.claims["NAME"]` or `"NAME" in caller.claims`. */
function nameIn({ op, args }: ASTNode): string | null {
  if (op === '.' && memberOf(args[0]) === 'claims') return args[1];
  if (op === '[]' && memberOf(args[0]) === 'claims') return textOf(args[1]);
  return op === 'in' && memberOf(args[1]) === 'claims' ? textOf(args[0]) : null;
}

/** Returns the member of the caller that a node is; `null` for any other node. */
function memberOf({ op, args }: ASTNode): string | null {
  if (op === '.') return isCaller(args[0]) ? args[1] : null;
  return op === '[]' && isCaller(args[0]) ? textOf(args[1]) : null;
}

function isCaller({ op, args }: ASTNode): boolean {
  return op === 'id' && args === 'caller';
}

function textOf({ op, args }: ASTNode): string | null {
  return op === 'value' && typeof args === 'string' ? args : null;
}

function hasNode(node: ASTNode, isWanted: (node: ASTNode) => boolean): boolean {
  return isWanted(node) || childrenOf(node).some((child) => hasNode(child, isWanted));
}
