import type { Span } from './find-spans.ts';

/** Builds a string from a source piece by piece, from left to right, and maps its positions back to the source. */
export class Rewriting {
  readonly #source: string;
  /** Start of each piece in the result, and its range in the source. */
  readonly #begins: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  #text = '';

  constructor(source: string) {
    this.#source = source;
  }

  get length(): number {
    return this.#text.length;
  }

  get text(): string {
    return this.#text;
  }

  /** Copies a piece of the source. */
  copy(from: number, to: number): void {
    if (to > from) this.#add(this.#source.slice(from, to), from, to);
  }

  /** Replaces a piece of the source. */
  put(text: string, from: number, to: number): void {
    if (text !== '') this.#add(text, from, -to);
  }

  /** Returns the source range of a span of the result; a replaced piece counts whole. */
  sourceOf({ start, end }: Span): Span {
    if (end <= start) return { start: 0, end: 0 };
    return { start: this.#startOf(start), end: this.#endOf(end - 1) };
  }

  /** Returns the replaced piece that contains a source position after the piece's first character; `null` for none. */
  putAround(place: number): Span | null {
    const piece = last(this.#from, place);
    const [from = 0, to = 0] = [this.#from[piece], this.#to[piece]];
    return from < place && place < -to ? { start: from, end: -to } : null;
  }

  #add(text: string, from: number, to: number): void {
    this.#begins.push(this.#text.length);
    this.#from.push(from);
    this.#to.push(to);
    this.#text += text;
  }

  #startOf(place: number): number {
    const piece = last(this.#begins, place);
    const from = this.#from[piece] ?? 0;
    return this.#isPut(piece) ? from : from + place - (this.#begins[piece] ?? 0);
  }

  #endOf(place: number): number {
    const piece = last(this.#begins, place);
    return this.#isPut(piece) ? -(this.#to[piece] ?? 0) : this.#startOf(place) + 1;
  }

  #isPut(piece: number): boolean {
    return (this.#to[piece] ?? 0) < 0;
  }
}

/** Returns the index of the last number not above a limit; the numbers are in ascending order. */
function last(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
