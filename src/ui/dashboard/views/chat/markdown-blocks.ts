import { marked } from 'marked';

/** A growing text split into Markdown blocks. All but the last block are complete. */
export class MarkdownBlocks {
  #text = '';
  #ended: string[] = [];
  #length = 0;

  /** Receives the whole current text; parses again only after the last complete block. */
  read(text: string): string[] {
    if (!text.startsWith(this.#text)) {
      this.#ended = [];
      this.#length = 0;
    }
    this.#text = text;
    const blocks = marked.lexer(text.slice(this.#length)).map(({ raw }) => raw);
    // The last block may continue; a blank line before it belongs to no block.
    const ended = blocks.slice(0, -1);
    this.#length += ended.reduce((sum, { length }) => sum + length, 0);
    this.#ended.push(...ended.filter((raw) => raw.trim() !== ''));
    const last = blocks.at(-1) ?? '';
    return last.trim() === '' ? [...this.#ended] : [...this.#ended, last];
  }
}
