import type { Expression, NewExpression, Node, ObjectExpression } from 'oxc-parser';
import { parseSync, Visitor } from 'oxc-parser';

/** A refusal as it stands in the code: where it is made, its status or code, and its text. */
export interface Thrown {
  kind: 'http' | 'rpc' | 'command' | 'class' | 'task';
  /** Status, code, or name of the class. */
  code: string;
  /** `…` stands for a value that is known at run time only. */
  text: string;
}

/** Lists the refusals that a source makes by a literal. */
export function thrownIn(source: string, file: string): Thrown[] {
  const { program, comments } = parseSync(file, source);
  const found: Thrown[] = [];
  const docOf = (start: number): string => {
    const before = comments.findLast(({ end }) => end <= start);
    const isDoc = before !== undefined && source.slice(before.end, start).trim() === '';
    return isDoc ? before.value.replaceAll(/[\s*]+/g, ' ').trim() : '';
  };
  new Visitor({
    NewExpression: (node) => found.push(...refusalOf(node, source)),
    ExportNamedDeclaration: ({ start, declaration }) => {
      if (declaration?.type !== 'ClassDeclaration' || !isError(declaration.superClass)) return;
      found.push({ kind: 'class', code: declaration.id?.name ?? '', text: docOf(start) });
    },
    Property: ({ key, value }) => {
      const text = textOf(value);
      if (text === null) return;
      const name = nameOf(key);
      if (name === 'text' && file.endsWith('/task/failure-of.ts')) {
        found.push({ kind: 'task', code: 'failed', text });
      }
      const isBody = name === 'error' && /^src\/(http|dashboard)\//.test(file);
      if (isBody && !found.some((one) => one.text === text)) {
        found.push({ kind: 'http', code: '', text });
      }
    },
  }).visit(program);
  return found;
}

function refusalOf(node: NewExpression, source: string): Thrown[] {
  const [first, second] = node.arguments;
  const name = nameOf(node.callee);
  if (name === 'Problem' && first !== undefined && second?.type === 'ObjectExpression') {
    const text = textOf(propertyOf(second, 'error'));
    return text === null ? [] : [{ kind: 'http', code: codeOf(first, source), text }];
  }
  if (name === 'RpcError' && first !== undefined && isExpression(second)) {
    const text = textOf(second);
    return text === null ? [] : [{ kind: 'rpc', code: codeOf(first, source), text }];
  }
  if (name === 'CliError' && isExpression(first) && second?.type === 'ObjectExpression') {
    const [text, code] = [textOf(first), textOf(propertyOf(second, 'code'))];
    return text === null || code === null ? [] : [{ kind: 'command', code, text }];
  }
  return [];
}

function isError(node: Expression | null): boolean {
  return node?.type === 'Identifier' && node.name.endsWith('Error');
}

function isExpression(node: unknown): node is Expression {
  return node !== undefined && (node as { type: string }).type !== 'SpreadElement';
}

function codeOf(node: { start: number; end: number }, source: string): string {
  return source.slice(node.start, node.end);
}

function nameOf(node: Node): string {
  return 'name' in node && typeof node.name === 'string' ? node.name : '';
}

function propertyOf({ properties }: ObjectExpression, name: string): Node | null {
  for (const property of properties) {
    if (property.type === 'Property' && nameOf(property.key) === name) return property.value;
  }
  return null;
}

/** Returns the text of a literal, with `…` for each inserted value; `null` for any other expression. */
function textOf(node: Node | null): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return null;
  return node.quasis.map(({ value }) => value.cooked).join('…');
}
