import { type MarkdownNode, parseMarkdown } from './parse-markdown.ts';

/** A `## Tool: <name>` section of a file. */
export interface ToolSection {
  name: string;
  /** Line of the heading. */
  line: number;
  /** First paragraph on one line; empty if there is none. */
  description: string;
  jsonBlocks: JsonBlock[];
  /** Text after `**Input:**`, if the section has such a line, and the lines of the block below it. */
  input?: { text: string; line: number; column: number; block: string[]; blockLine: number };
}

/** A fenced JSON block. */
export interface JsonBlock {
  info: string;
  content: string;
  /** Line of the file with its first line of content. */
  line: number;
  /** Columns before each line of content, occupied by list or quote markers. */
  margins: number[];
}

/** Text of a skill by lines. */
interface Source {
  /** Line number in the file of the first of `lines`. */
  firstLine: number;
  lines: string[];
  /** The same lines with headings, code and comments blanked out. */
  prose: string[];
}

/** In Markdown a lone carriage return also ends a line. */
const lineEnd = /\r?\n|\r/;

const inputLine = /^(\s*(?:[-*]\s+)?\*\*Input(?::\*\*|\*\*:?)\s*)(.*)$/i;

/** Finds the tool sections of a skill's body; a section ends at the next heading of the same or a higher level. */
export function toolSections(body: string, firstLine: number): ToolSection[] {
  const { children } = parseMarkdown(body);
  const prose = proseOf(body, children.flatMap(asidesIn)).split(lineEnd);
  const source = { firstLine, lines: body.split(lineEnd), prose };
  const headings = children.flatMap((node, index) =>
    node.type === 'heading' && node.depth <= 2 ? [{ node, index }] : [],
  );
  return headings.flatMap(({ node, index }, place) => {
    const name = toolName(body, node);
    if (name === undefined) return [];
    const content = children.slice(index + 1, headings[place + 1]?.index);
    return [section(name, lineOf(node), content, source)];
  });
}

/** Returns the name in a heading `## Tool: <name>`. */
function toolName(body: string, heading: MarkdownNode): string | undefined {
  const written = /^##[ \t]+Tool:(.*)$/i.exec(sliceOf(body, heading))?.[1];
  return written
    ?.trim()
    .replace(/(^|[ \t])#+$/, '')
    .replaceAll(/[`*]/g, '')
    .trim();
}

function section(
  name: string,
  headingLine: number,
  content: MarkdownNode[],
  { firstLine, lines, prose }: Source,
): ToolSection {
  const last = content.at(-1);
  const text = prose.slice(headingLine, last?.position?.end.line ?? headingLine);
  const jsonBlocks = content
    .flatMap(asidesIn)
    .flatMap((node) => (node.type === 'code' ? jsonBlock(node, firstLine, lines) : []));
  const line = firstLine + headingLine - 1;
  const found: ToolSection = { name, line, description: firstParagraph(text), jsonBlocks };
  const index = text.findIndex((one) => inputLine.test(one));
  const [, marker = '', input] = inputLine.exec(text[index] ?? '') ?? [];
  if (input === undefined) return found;
  const start = text.findIndex((one, at) => at > index && one.trim() !== '');
  const below = start === -1 ? [] : text.slice(start);
  const end = below.findIndex((one) => one.trim() === '');
  return {
    ...found,
    input: {
      text: input.trim(),
      line: line + 1 + index,
      column: marker.length + 1,
      block: below.slice(0, end === -1 ? undefined : end),
      blockLine: line + 1 + start,
    },
  };
}

function jsonBlock(node: Code, firstLine: number, lines: string[]): JsonBlock[] {
  const info = `${node.lang ?? ''} ${node.meta ?? ''}`.trim().toLowerCase();
  if (!/^json(?:\b|$)|^jsonschema\b/.test(info)) return [];
  const start = lineOf(node);
  const margins = node.value
    .split(lineEnd)
    .map((text, index) => Math.max(0, (lines[start + index]?.length ?? 0) - text.length));
  return [{ info, content: node.value, line: firstLine + start, margins }];
}

function firstParagraph(text: string[]): string {
  const words: string[] = [];
  for (const line of text) {
    const word = inputLine.test(line) ? '' : line.trim();
    if (word !== '') words.push(word);
    else if (words.length > 0) break;
  }
  return words.join(' ');
}

type Code = Extract<MarkdownNode, { type: 'code' }>;

type Aside = Extract<MarkdownNode, { type: 'code' | 'heading' | 'html' }>;

/** Returns the non-prose blocks in a node, or the node itself. */
function asidesIn(node: MarkdownNode): Aside[] {
  if (node.type === 'code' || node.type === 'heading' || node.type === 'html') return [node];
  return 'children' in node ? node.children.flatMap(asidesIn) : [];
}

function proseOf(body: string, asides: Aside[]): string {
  let prose = '';
  for (const aside of asides) {
    prose += body.slice(prose.length, aside.position?.start.offset);
    const source = sliceOf(body, aside);
    prose += aside.type === 'html' ? source.replace(comment, blank) : blank(source);
  }
  return prose + body.slice(prose.length);
}

const comment = /<!--[^]*?(?:-->|$)/g;

function blank(text: string): string {
  return text.replace(/[^\r\n]/g, ' ');
}

function sliceOf(body: string, { position }: MarkdownNode): string {
  return body.slice(position?.start.offset, position?.end.offset);
}

function lineOf({ position }: MarkdownNode): number {
  return position?.start.line ?? 1;
}
