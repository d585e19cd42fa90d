import type { ASTNode } from '@marcbachmann/cel-js';

/** A fault of an expression, with its place in the text. */
export interface ExpressionFault {
  message: string;
  /** Position in the text, from 0. */
  at: number;
}

/** Macros that run over a list. */
const macros: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Methods whose time grows with the text or list that they are called on. */
const searching: ReadonlySet<string> = new Set([
  ...macros,
  ...(['contains', 'startsWith', 'endsWith', 'matches', 'indexOf', 'lastIndexOf'] as const),
  ...(['split', 'join', 'substring', 'lowerAscii', 'upperAscii', 'trim', 'replace'] as const),
  ...(['count', 'sum', 'last', 'size'] as const),
]);

/** Functions whose time grows with their argument. */
const converting: ReadonlySet<string> = new Set([
  'size',
  'string',
  'bytes',
  'timestamp',
  'duration',
]);

/**
 * Returns the first part of an expression that could take more than linear time in its input; `null` if there is none.
 * Inside a macro, only the current element and literals may be searched, joined or run over: every other search would
 * happen once per element. Patterns must be literals, so that they are compiled at the start.
 */
export function costFault(node: ASTNode): ExpressionFault | null {
  return faultIn(node, null);
}

/** `elements` are the names of the current elements inside a macro. */
function faultIn(node: ASTNode, elements: ReadonlySet<string> | null): ExpressionFault | null {
  const { op, args } = node;
  if (op === 'rcall') {
    const [name, receiver, operands] = args as [string, ASTNode, ASTNode[]];
    if (name === 'matches' && !isText(operands[0])) {
      return fault(node, 'the pattern of matches() must be a string in quotes');
    }
    if (elements !== null && searching.has(name) && !isOfElement(receiver, elements)) {
      return fault(
        node,
        `${name}() inside a macro must be called on the current element; move it out of the macro`,
      );
    }
    const [variable, ...bodies] = operands;
    if (isMacro(node)) {
      // An outer element would be searched once per inner one.
      const inner = new Set([variable?.args as string]);
      return faultIn(receiver, elements) ?? firstIn(bodies, inner);
    }
    return faultIn(receiver, elements) ?? firstIn(operands, elements);
  }
  if (elements !== null && op === 'call') {
    const [name, operands] = args as [string, ASTNode[]];
    const outer = operands.find((each) => !isOfElement(each, elements) && !isSmall(each));
    if (converting.has(name) && outer !== undefined) {
      return fault(
        node,
        `${name}() inside a macro must be called on the current element; move it out of the macro`,
      );
    }
  }
  if (elements !== null && (op === 'in' || op === '+')) {
    const [left, right] = args as [ASTNode, ASTNode];
    const searched = op === 'in' ? [right] : [left, right];
    if (!searched.every((each) => isOfElement(each, elements) || isSmall(each))) {
      const what = op === 'in' ? 'the list of "in"' : 'both sides of "+"';
      return fault(
        node,
        `${what} inside a macro must be of the current element; move it out of the macro`,
      );
    }
  }
  return firstIn(childrenOf(node), elements);
}

function firstIn(
  nodes: readonly ASTNode[],
  elements: ReadonlySet<string> | null,
): ExpressionFault | null {
  for (const node of nodes) {
    const found = faultIn(node, elements);
    if (found !== null) return found;
  }
  return null;
}

/** Returns whether a call runs over the elements of its receiver. */
export function isMacro({ op, args }: ASTNode): boolean {
  if (op !== 'rcall') return false;
  const [name, , [variable]] = args;
  return macros.has(name) && variable?.op === 'id';
}

/** Returns the parts of an expression, in order. */
export function childrenOf({ args }: ASTNode): ASTNode[] {
  return ([args] as unknown[]).flat(3).filter(isNode);
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value;
}

/** Returns true for an element of a macro, a part of one, or a literal. */
function isOfElement(node: ASTNode, elements: ReadonlySet<string>): boolean {
  if (node.op === 'id') return elements.has(node.args as string);
  if (node.op === 'value' || node.op === 'list') return childrenOf(node).every(isLiteral);
  if (node.op === '.' || node.op === '[]') {
    return isOfElement(node.args[0], elements);
  }
  if (node.op === 'rcall') {
    return isOfElement(node.args[1], elements);
  }
  return false;
}

function isLiteral(node: ASTNode): boolean {
  return node.op === 'value';
}

/** Returns true for a number or the result of a conversion, which adding cannot make longer. */
function isSmall(node: ASTNode): boolean {
  if (node.op === 'call') return ['int', 'double', 'uint', 'size'].includes(String(node.args[0]));
  return node.op === 'value' || ['+', '-', '*', '/', '%'].includes(node.op);
}

function isText(node: ASTNode | undefined): boolean {
  return node?.op === 'value' && typeof node.args === 'string';
}

function fault(node: ASTNode, message: string): ExpressionFault {
  return { message, at: node.pos };
}
