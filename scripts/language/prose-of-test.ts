import { type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';

/** Returns the comments and the titles of a test file at their places, with blanks for everything else. */
export function proseOfTest(file: string, source: string): string {
  const { program, comments } = parseSync(file, source);
  const spans: { start: number; end: number }[] = [...comments];
  new Visitor({
    CallExpression(call: CallExpression) {
      const [title] = call.arguments;
      if (title === undefined || !/^(?:describe|it|test)$/.test(rootOf(call.callee))) return;
      if (title.type === 'Literal' || title.type === 'TemplateLiteral') spans.push(title);
    },
  }).visit(program);
  const kept = spans.toSorted((one, other) => one.start - other.start);
  let at = 0;
  let prose = '';
  for (const { start, end } of kept) {
    prose += blank(source.slice(at, start)) + source.slice(start, end);
    at = end;
  }
  return prose + blank(source.slice(at));
}

function rootOf(callee: Expression): string {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return rootOf(callee.object);
  return callee.type === 'CallExpression' ? rootOf(callee.callee) : '';
}

function blank(code: string): string {
  return code.replaceAll(/[^\n]/g, ' ');
}
