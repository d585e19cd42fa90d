import { RE2Set } from 're2js';

/** One node of a parsed pattern, as re2js lays it out once repetitions are written out. */
export interface PatternNode {
  op: number;
  flags: number;
  subs: readonly PatternNode[];
  /** Code points of a literal; pairs of first and last of a character class. */
  runes: ArrayLike<number> | null;
}

/** Bit of `flags` that stands for `(?i)`. */
const foldCase = 1;

/** Parses a pattern without building a program for it. Throws what re2js throws. */
export function parseNode(pattern: string): PatternNode {
  const set = new RE2Set();
  set.add(pattern);
  const [node] = set.regexps as PatternNode[];
  if (node === undefined) throw new Error('the pattern was parsed to nothing');
  return node;
}

/** The name of a node's operation, such as `LITERAL`. */
export function operationOf(node: PatternNode): string | undefined {
  const { Op } = node.constructor as unknown as { Op?: Record<number, string> };
  return Op?.[node.op];
}

/** Tells whether a literal is matched in either case. */
export function ignoresCase(node: PatternNode): boolean {
  return (node.flags & foldCase) !== 0;
}

/** Counts the nodes of a pattern, shared ones each time they are met; stops counting above the limit. */
export function sizeOf(node: PatternNode, limit: number): number {
  const open = [node];
  let size = 0;
  while (size <= limit) {
    const next = open.pop();
    if (next === undefined) break;
    size += Math.max(1, operationOf(next) === 'LITERAL' ? (next.runes?.length ?? 1) : 1);
    for (const sub of next.subs) open.push(sub);
  }
  return size;
}

const anchors = ['BEGIN_LINE', 'END_LINE', 'BEGIN_TEXT', 'END_TEXT'];

/** Tells whether a pattern asks where a text or a line begins or ends. */
export function isAnchored(node: PatternNode): boolean {
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (anchors.includes(operationOf(next) ?? '')) return true;
    open.push(...next.subs);
  }
  return false;
}

/**
 * Tells whether a pattern can match without taking a character; assertions count as taking none.
 * What is not known counts as able to, so that such a pattern is refused.
 */
export function canBeEmpty(node: PatternNode): boolean {
  switch (operationOf(node)) {
    case 'NO_MATCH':
    case 'CHAR_CLASS':
    case 'ANY_CHAR':
    case 'ANY_CHAR_NOT_NL':
      return false;
    case 'LITERAL':
      return (node.runes?.length ?? 0) === 0;
    case 'CAPTURE':
    case 'PLUS':
    case 'CONCAT':
      return node.subs.every(canBeEmpty);
    case 'ALTERNATE':
      return node.subs.some(canBeEmpty);
    default:
      return true;
  }
}
