/** One piece of a Markdown text: a heading, a fenced block, or a single line of anything else. */
export type MarkdownBlock =
  | { kind: 'heading'; level: number; text: string; line: number }
  | { kind: 'fence'; info: string; content: string; line: number }
  | { kind: 'line'; text: string; line: number };

/** Splits Markdown so that headings inside fenced blocks are not taken for headings; lines count from `firstLine`. */
export function markdownBlocks(markdown: string, firstLine: number): MarkdownBlock[] {
  const lines = markdown.split(/\r?\n/);
  const blocks: MarkdownBlock[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const line = firstLine + index;
    const fence = openingFence(text);
    if (fence) {
      const end = closingFence(lines, index + 1, fence.marker);
      const content = lines.slice(index + 1, end).join('\n');
      blocks.push({ kind: 'fence', info: fence.info, content, line });
      index = end;
    } else {
      blocks.push(heading(text, line) ?? { kind: 'line', text, line });
    }
  }
  return blocks;
}

function openingFence(line: string): { marker: string; info: string } | undefined {
  const match = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  const marker = match?.[1];
  const info = match?.[2]?.trim() ?? '';
  if (marker === undefined || (marker.startsWith('`') && info.includes('`'))) return undefined;
  return { marker, info };
}

/** The index of the line that closes the fence; past the end when nothing does. */
function closingFence(lines: string[], from: number, marker: string): number {
  const index = lines.findIndex((line, at) => {
    if (at < from || /^ {4}/.test(line)) return false;
    const text = line.trim();
    return text.length >= marker.length && text === marker.charAt(0).repeat(text.length);
  });
  return index === -1 ? lines.length : index;
}

function heading(line: string, number: number): MarkdownBlock | undefined {
  const match = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(line);
  const marker = match?.[1];
  if (match === null || marker === undefined) return undefined;
  const text = line
    .slice(match[0].length)
    .trim()
    .replace(/(^|[ \t])#+$/, '')
    .trim();
  return { kind: 'heading', level: marker.length, text, line: number };
}
