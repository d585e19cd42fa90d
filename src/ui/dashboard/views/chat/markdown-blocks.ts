import { marked } from 'marked';

/** A text that grows, cut into blocks of Markdown: all but the last have come to their end. */
export class MarkdownBlocks {
  #text = '';
  #ended: string[] = [];
  #length = 0;

  /** Takes the whole text as it is now; reads again what is behind the last block that has ended. */
  read(text: string): string[] {
    if (!text.startsWith(this.#text)) {
      this.#ended = [];
      this.#length = 0;
    }
    this.#text = text;
    const blocks = marked.lexer(text.slice(this.#length)).map(({ raw }) => raw);
    // The last one may go on; a blank line before it belongs to nothing.
    const ended = blocks.slice(0, -1);
    this.#length += ended.reduce((sum, { length }) => sum + length, 0);
    this.#ended.push(...ended.filter((raw) => raw.trim() !== ''));
    const last = blocks.at(-1) ?? '';
    return last.trim() === '' ? [...this.#ended] : [...this.#ended, last];
  }
}
