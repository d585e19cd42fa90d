import { type MarkdownBlock, markdownBlocks } from './markdown-blocks.ts';

/** A `## Tool: <name>` section as it stands in the file. */
export interface ToolSection {
  name: string;
  /** The line of the heading. */
  line: number;
  /** The first paragraph on one line; empty when there is none. */
  description: string;
  /** Fenced blocks in JSON, with the line of their first line of content. */
  jsonBlocks: { info: string; content: string; line: number }[];
  /** What follows `**Input:**`, when the section has such a line. */
  input?: { text: string; line: number };
}

const inputLine = /^\s*(?:[-*]\s+)?\*\*Input(?::\*\*|\*\*:?)(.*)$/i;

/** Finds the tool sections of a skill's body; a section ends at the next heading of its level or above. */
export function toolSections(body: string, firstLine: number): ToolSection[] {
  const blocks = markdownBlocks(body, firstLine);
  const sections: ToolSection[] = [];
  blocks.forEach((block, index) => {
    if (block.kind !== 'heading' || block.level !== 2) return;
    const name = /^Tool:(.*)$/i.exec(block.text)?.[1];
    if (name === undefined) return;
    const after = blocks.slice(index + 1);
    const end = after.findIndex((other) => other.kind === 'heading' && other.level <= 2);
    const content = end === -1 ? after : after.slice(0, end);
    sections.push(section(name.replaceAll(/[`*]/g, '').trim(), block.line, content));
  });
  return sections;
}

function section(name: string, line: number, content: MarkdownBlock[]): ToolSection {
  const jsonBlocks = content.flatMap((block) =>
    block.kind === 'fence' && /^json(?:\b|$)|^jsonschema\b/i.test(block.info)
      ? [{ info: block.info.toLowerCase(), content: block.content, line: block.line + 1 }]
      : [],
  );
  const found: ToolSection = { name, line, description: firstParagraph(content), jsonBlocks };
  for (const block of content) {
    const text = block.kind === 'line' ? inputLine.exec(block.text)?.[1] : undefined;
    if (text !== undefined) return { ...found, input: { text: text.trim(), line: block.line } };
  }
  return found;
}

function firstParagraph(content: MarkdownBlock[]): string {
  const words: string[] = [];
  for (const block of content) {
    const text = block.kind === 'line' && !inputLine.test(block.text) ? block.text.trim() : '';
    if (text !== '') words.push(text);
    else if (words.length > 0) break;
  }
  return words.join(' ');
}
