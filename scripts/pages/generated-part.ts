/** Returns a page with `lines` in the place of a name: between `<!-- name -->` and `<!-- end of name -->`. */
export function withPart(page: string, name: string, lines: string): string {
  const { from, to } = placeOf(page, name);
  return `${page.slice(0, from)}${lines}${page.slice(to)}`;
}

/** Returns the lines in the place of a name; throws if the page has no such place. */
export function partOf(page: string, name: string): string {
  const { from, to } = placeOf(page, name);
  return page.slice(from, to);
}

/** Returns a table of Markdown, a line each for the head and the rows. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function placeOf(page: string, name: string): { from: number; to: number } {
  const start = `<!-- ${name} -->\n`;
  const [at, to] = [page.indexOf(start), page.indexOf(`<!-- end of ${name} -->`)];
  if (at < 0 || to < at) throw new Error(`the page has no place for ${name}`);
  return { from: at + start.length, to };
}
