import type { Expression, NewExpression, Node, ObjectExpression } from 'oxc-parser';
import { parseSync, Visitor } from 'oxc-parser';

/** A refusal in the code: where it is made, its status or code, and its text. */
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
  const made: [code: Expression, text: Expression][] = [];
  const bodies: [code: string, error: Node | null][] = [];
  const constants: [name: string, value: Node][] = [];
  const docOf = (start: number): string => {
    const before = comments.findLast(({ end }) => end <= start);
    const isDoc = before !== undefined && source.slice(before.end, start).trim() === '';
    return isDoc ? before.value.replaceAll(/[\s*]+/g, ' ').trim() : '';
  };
  new Visitor({
    NewExpression: (node) => {
      const [code, text] = node.arguments;
      if (!['Problem', 'SystemError'].includes(nameOf(node.callee)) || code === undefined) {
        found.push(...refusalOf(node, source));
      } else if (isExpression(code) && isExpression(text)) made.push([code, text]);
    },
    ExportNamedDeclaration: ({ start, declaration }) => {
      if (declaration?.type !== 'ClassDeclaration' || !isError(declaration.superClass)) return;
      found.push({ kind: 'class', code: declaration.id?.name ?? '', text: docOf(start) });
    },
    Property: ({ key, value }) => {
      const text = textOf(value);
      if (text === null || nameOf(key) !== 'text' || !file.endsWith('/task/failure-of.ts')) return;
      found.push({ kind: 'task', code: 'failed', text });
    },
    VariableDeclarator: ({ id, init }) => {
      if (init !== null) constants.push([nameOf(id), init]);
    },
    ObjectExpression: (node) => {
      if (!/^src\/(http|dashboard)\//.test(file)) return;
      const code = textOf(propertyOf(node, 'code')) ?? '';
      bodies.push([code, propertyOf(node, 'error')]);
    },
  }).visit(program);
  const textsIn = (node: Node | null): string[] => allTextsOf(node, constants);
  for (const [code, text] of made) {
    const texts = textsIn(text);
    for (const one of textsIn(code)) found.push(...texts.map((said) => problem(one, said)));
  }
  for (const [code, error] of bodies) {
    const texts = code === '' ? [textOf(error) ?? []].flat() : textsIn(error);
    const isKnown = (text: string): boolean => found.some((one) => one.text === text);
    found.push(...texts.filter((text) => !isKnown(text)).map((text) => problem(code, text)));
  }
  return found;
}

function problem(code: string, text: string): Thrown {
  return { kind: 'http', code: code === 'unknown_task' ? 'task_not_found' : code, text };
}

/** Returns the texts that an expression can be; `constants` are the names of the file, each with its value. */
function allTextsOf(node: Node | null, constants: readonly [string, Node][]): string[] {
  const one = textOf(node);
  if (one !== null) return [one];
  if (node?.type === 'ConditionalExpression') {
    return [node.consequent, node.alternate].flatMap((part) => allTextsOf(part, constants));
  }
  if (node?.type === 'LogicalExpression') {
    return [node.left, node.right].flatMap((part) => allTextsOf(part, constants));
  }
  if (node?.type !== 'Identifier') return [];
  const known = constants.filter(([name, { start }]) => name === node.name && start < node.start);
  const [, value] = known.at(-1) ?? constants.find(([name]) => name === node.name) ?? [];
  return value === undefined || value === node ? [] : allTextsOf(value, constants);
}

function refusalOf(node: NewExpression, source: string): Thrown[] {
  const [first, second] = node.arguments;
  const name = nameOf(node.callee);
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
