import { foldText } from './required-literals.ts';

/** Edges of a trie in one flat table: key is node and character class, value the child. */
class Edges {
  private keys = new Int32Array(1_024).fill(-1);
  private children = new Int32Array(1_024);
  private count = 0;

  find(key: number): number {
    const mask = this.keys.length - 1;
    for (let slot = slotOf(key, mask); ; slot = (slot + 1) & mask) {
      const held = this.keys[slot];
      if (held === key) return this.children[slot] ?? -1;
      if (held === -1) return -1;
    }
  }

  add(key: number, child: number): void {
    if ((this.count + 1) * 2 > this.keys.length) this.grow();
    this.count += 1;
    this.put(key, child);
  }

  private put(key: number, child: number): void {
    const mask = this.keys.length - 1;
    let slot = slotOf(key, mask);
    while (this.keys[slot] !== -1) slot = (slot + 1) & mask;
    this.keys[slot] = key;
    this.children[slot] = child;
  }

  private grow(): void {
    const { keys, children } = this;
    this.keys = new Int32Array(keys.length * 2).fill(-1);
    this.children = new Int32Array(keys.length * 2);
    keys.forEach((key, slot) => {
      if (key !== -1) this.put(key, children[slot] ?? 0);
    });
  }
}

function slotOf(key: number, mask: number): number {
  const mixed = Math.imul(key ^ (key >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) & mask;
}

/**
 * Finds which of many strings a text contains, in one pass over it (Aho and Corasick, 1975).
 * Its time grows with the text and the strings together, whatever they hold.
 */
export class LiteralScanner {
  private readonly edges = new Edges();
  private readonly classes = new Uint16Array(0x1_0000);
  private readonly stride: number;
  /** The owners of the string that ends at a node. */
  private readonly owners = new Map<number, number[]>();
  /** The nodes of strings of one character, by its class: most of a text is looked up here alone. */
  private readonly roots: Int32Array;
  private readonly failure: Int32Array;
  /** The nearest shorter string that ends where a node ends; 0 for none. */
  private readonly shorter: Int32Array;
  /** The scan that met a node last, so that one scan reports it once. */
  private readonly metIn: Uint32Array;
  private scans = 0;

  /** Takes strings after `foldText`, none of them empty, each with the number that a scan reports for it. */
  constructor(literals: readonly { literal: string; owner: number }[]) {
    let last = 0;
    for (const { literal } of literals) {
      for (let index = 0; index < literal.length; index += 1) {
        const unit = literal.charCodeAt(index);
        if (this.classes[unit] === 0) this.classes[unit] = last += 1;
      }
    }
    this.stride = last + 1;
    for (const [letter, folded] of foldedLetters) {
      this.classes[letter] ||= this.classes[folded] ?? 0;
    }
    const nodes = this.growTrie(literals);
    this.roots = new Int32Array(this.stride);
    nodes.forEach(({ unit, depth }, node) => {
      if (depth === 1) this.roots[unit] = node;
    });
    this.failure = new Int32Array(nodes.length);
    this.shorter = new Int32Array(nodes.length);
    this.metIn = new Uint32Array(nodes.length);
    this.link(nodes);
  }

  /** Returns the owners of every string in the text after `foldText`, each once, in no order. */
  scan(text: string): Set<number> {
    const found = new Set<number>();
    if (this.owners.size === 0) return found;
    this.scans += 1;
    let node = 0;
    for (let index = 0; index < text.length; index += 1) {
      const unit = this.classes[text.charCodeAt(index)] ?? 0;
      node = unit === 0 ? 0 : this.advance(node, unit);
      if (node !== 0) this.report(node, found);
    }
    return found;
  }

  private report(from: number, found: Set<number>): void {
    for (let node = from; node !== 0; node = this.shorter[node] ?? 0) {
      if (this.metIn[node] === this.scans) return;
      this.metIn[node] = this.scans;
      for (const owner of this.owners.get(node) ?? []) found.add(owner);
    }
  }

  private advance(from: number, unit: number): number {
    for (let node = from; node !== 0; node = this.failure[node] ?? 0) {
      const child = this.edges.find(node * this.stride + unit);
      if (child !== -1) return child;
    }
    return this.roots[unit] ?? 0;
  }

  /** Returns for each node its parent, the class that leads to it and its depth. */
  private growTrie(literals: readonly { literal: string; owner: number }[]): TrieNode[] {
    const nodes: TrieNode[] = [{ parent: 0, unit: 0, depth: 0 }];
    for (const { literal, owner } of literals) {
      let node = 0;
      for (let index = 0; index < literal.length; index += 1) {
        const unit = this.classes[literal.charCodeAt(index)] ?? 0;
        const key = node * this.stride + unit;
        if (key > 0x7fff_ffff) throw new RangeError('the patterns hold too many different strings');
        let child = this.edges.find(key);
        if (child === -1) {
          child = nodes.length;
          nodes.push({ parent: node, unit, depth: index + 1 });
          this.edges.add(key, child);
        }
        node = child;
      }
      const owners = this.owners.get(node);
      if (owners) owners.push(owner);
      else this.owners.set(node, [owner]);
    }
    return nodes;
  }

  private link(nodes: readonly TrieNode[]): void {
    const order = [...nodes.keys()].sort(
      (one, other) => (nodes[one]?.depth ?? 0) - (nodes[other]?.depth ?? 0),
    );
    for (const node of order) {
      const { parent, unit, depth } = nodes[node] ?? { parent: 0, unit: 0, depth: 0 };
      if (depth < 2) continue;
      const suffix = this.advance(this.failure[parent] ?? 0, unit);
      this.failure[node] = suffix;
      this.shorter[node] = this.owners.has(suffix) ? suffix : (this.shorter[suffix] ?? 0);
    }
  }
}

/** The letters that RE2 takes for an ASCII one under `(?i)`, with its lower case. */
const foldedLetters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ\u017f\u212a'].map(
  (letter) => [letter.charCodeAt(0), foldText(letter).charCodeAt(0)] as const,
);

interface TrieNode {
  parent: number;
  unit: number;
  depth: number;
}
