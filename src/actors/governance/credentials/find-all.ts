/** A range of a string in UTF-16 units; the end is exclusive. */
export type Span = [start: number, end: number];

/** Code units below this use a table at the root node. */
const ascii = 128;

/**
 * Finds all words in a string with the Aho-Corasick automaton in one pass. The time is linear in the text and the words,
 * however often and closely they match. Returns spans in order, with overlapping occurrences merged; memory grows only
 * with the spans.
 */
export function findAll(text: string, words: Iterable<string>): Span[] {
  const automaton = new WordAutomaton([...new Set(words)].filter((word) => word !== ''));
  const spans: Span[] = [];
  let node = 0;
  for (let at = 0; at < text.length; at += 1) {
    node = automaton.next(node, text.charCodeAt(at));
    const length = automaton.longestAt(node);
    if (length > 0) add(spans, at + 1 - length, at + 1);
  }
  return spans;
}

/** Spans arrive ordered by their ends, so an earlier start merges with the overlapping spans at the end of the list. */
function add(spans: Span[], from: number, end: number): void {
  let start = from;
  for (let last = spans.at(-1); last !== undefined && last[1] > start; last = spans.at(-1)) {
    start = Math.min(start, last[0]);
    spans.pop();
  }
  spans.push([start, end]);
}

/** Nodes are numbers, and node 0 is the root; a node represents the longest prefix of a word just read. */
class WordAutomaton {
  readonly #first: Int32Array;
  readonly #sibling: Int32Array;
  readonly #code: Uint16Array;
  readonly #fallback: Int32Array;
  readonly #longest: Int32Array;
  readonly #beginnings = new Int32Array(ascii);

  constructor(words: readonly string[]) {
    const most = words.reduce((sum, { length }) => sum + length, 1);
    this.#first = new Int32Array(most);
    this.#sibling = new Int32Array(most);
    this.#code = new Uint16Array(most);
    this.#fallback = new Int32Array(most);
    this.#longest = new Int32Array(most);
    this.#plant(words);
    this.#fallBack();
  }

  next(from: number, code: number): number {
    let node = from;
    while (node !== 0) {
      const child = this.#child(node, code);
      if (child !== 0) return child;
      node = this.#fallback[node] ?? 0;
    }
    return code < ascii ? (this.#beginnings[code] ?? 0) : this.#child(0, code);
  }

  /** Length of the longest word that ends here; 0 for none. */
  longestAt(node: number): number {
    return this.#longest[node] ?? 0;
  }

  /** A node has few children, since words with a common prefix are encodings of the same secret. */
  #child(node: number, code: number): number {
    let child = this.#first[node] ?? 0;
    while (child !== 0 && this.#code[child] !== code) child = this.#sibling[child] ?? 0;
    return child;
  }

  #plant(words: readonly string[]): void {
    let planted = 1;
    for (const word of words) {
      let node = 0;
      for (let at = 0; at < word.length; at += 1) {
        const code = word.charCodeAt(at);
        let child = this.#child(node, code);
        if (child === 0) {
          child = planted;
          planted += 1;
          this.#code[child] = code;
          this.#sibling[child] = this.#first[node] ?? 0;
          this.#first[node] = child;
          if (node === 0 && code < ascii) this.#beginnings[code] = child;
        }
        node = child;
      }
      this.#longest[node] = word.length;
    }
  }

  /** Computes failure links breadth first, so shorter prefixes are complete before longer ones. */
  #fallBack(): void {
    const queue = [0];
    for (const node of queue) {
      for (let child = this.#first[node] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
        queue.push(child);
        const code = this.#code[child] ?? 0;
        const fallback = node === 0 ? 0 : this.next(this.#fallback[node] ?? 0, code);
        this.#fallback[child] = fallback;
        this.#longest[child] ||= this.#longest[fallback] ?? 0;
      }
    }
  }
}
