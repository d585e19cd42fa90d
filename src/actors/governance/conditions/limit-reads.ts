import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { childrenOf, type ExpressionFault } from './expression-limits.ts';

/** Returns the names of the limits that a condition reads. A condition that cannot be parsed reads none. */
export function limitsIn(condition: string): string[] {
  if (!/\blimits\b/.test(condition)) return [];
  try {
    return namesIn(new Environment().parse(condition).ast);
  } catch {
    return [];
  }
}

/** Returns the first use of `limits` that names no limit, since then no limit would be read for it. */
export function unnamedLimit(node: ASTNode): ExpressionFault | null {
  if (isLimits(node)) return { message: 'write limits.NAME.left', at: node.pos };
  if (nameIn(node) !== null) return null;
  for (const child of childrenOf(node)) {
    const found = unnamedLimit(child);
    if (found !== null) return found;
  }
  return null;
}

function namesIn(node: ASTNode): string[] {
  const name = nameIn(node);
  return name === null ? childrenOf(node).flatMap(namesIn) : [name];
}

/** Returns the limit that a node reads: `limits.NAME`. */
function nameIn({ op, args }: ASTNode): string | null {
  return op === '.' && isLimits(args[0]) ? args[1] : null;
}

function isLimits({ op, args }: ASTNode): boolean {
  return op === 'id' && args === 'limits';
}
