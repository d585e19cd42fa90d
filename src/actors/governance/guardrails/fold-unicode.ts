import { isAmongLatin, lookAlikes, taggedAscii } from './look-alikes.ts';
import { Rewriting } from './rewriting.ts';
import { kindOf, kinds, unitKinds } from './unit-kinds.ts';

/** Maximum code units normalised together: normalising many marks on one character would take quadratic time. */
const longestCluster = 32;

/** A folded text, and the positions of blanks that replace several blanks, a tab or a line end. */
export interface Folded {
  folding: Rewriting;
  gaps: readonly number[];
}

/**
 * Folds a string: NFKC, without invisible characters, with blanks and control characters as one blank, tag characters as
 * their ASCII equivalents, and letters of other scripts among Latin letters as their look-alikes. Returns `null` for a
 * text that is already folded.
 */
export function foldUnicode(text: string): Folded | null {
  const folder = new Folder(text);
  return folder.fold() ? { folding: folder.folding, gaps: folder.gaps } : null;
}

/** A shorter run of tag characters spells no word. */
const leastTags = 4;

const wordEnd = /[\p{L}\p{N}]$/u;
const wordStart = /^[\p{L}\p{N}]/u;

const { plain, space, invisible } = kinds;

/** Returns whether a single blank precedes a unit of this kind; `undefined` is the end of the text. */
function isWord(next: number | undefined): boolean {
  return next === undefined || next === plain || next > invisible;
}

class Folder {
  readonly folding: Rewriting;
  readonly gaps: number[] = [];
  readonly #text: string;
  readonly #kinds = unitKinds();
  /** Start of the plain text that is not yet copied. */
  #plain = 0;

  constructor(text: string) {
    this.#text = text;
    this.folding = new Rewriting(text);
  }

  /** Returns false if the text does not change. */
  fold(): boolean {
    const text = this.#text;
    const table = this.#kinds;
    for (let place = 0; place < text.length; ) {
      const kind = table[text.charCodeAt(place)];
      // Fast path for the characters of most texts.
      const isPlain =
        kind === plain || (kind === space && isWord(table[text.charCodeAt(place + 1)]));
      place = isPlain ? place + 1 : this.#take(place, kind);
    }
    if (this.#plain === 0) return false;
    this.folding.copy(this.#plain, text.length);
    return true;
  }

  /** Folds the non-plain unit at a position, and returns the position after it. */
  #take(place: number, kind: number | undefined): number {
    switch (kind) {
      case kinds.space:
      case kinds.blank:
      case kinds.breaking:
        return this.#blanks(place);
      case kinds.changing:
        return this.#cluster(place, place + 1);
      case kinds.alike:
        return this.#alike(place);
      case kinds.surrogate:
        return this.#pair(place);
      default:
        return this.#belated(place);
    }
  }

  #blanks(from: number): number {
    let [place, end, isGap] = [from, from, false];
    for (; place < this.#text.length; place += 1) {
      const kind = this.#kindAt(place);
      if (kind === invisible) continue;
      if (kind === plain || kind > kinds.breaking) break;
      isGap ||= end > from || kind === kinds.breaking;
      end = place + 1;
    }
    this.folding.copy(this.#plain, from);
    if (isGap) this.gaps.push(this.folding.length);
    this.folding.put(' ', from, end);
    this.#plain = place;
    return place;
  }

  /** Folds a Latin look-alike in a word with Latin letters. */
  #alike(place: number): number {
    const letter = lookAlikes.get(this.#text.charAt(place));
    if (letter === undefined || !isAmongLatin(this.#text, place)) return place + 1;
    return this.#put(letter, place, place + 1);
  }

  /** Folds tag characters to the text they encode; a short run inside a word only breaks up the word and is dropped. */
  #tags(from: number): number {
    const text = this.#text;
    let [end, said] = [from, ''];
    for (;;) {
      const tagged = taggedAscii(text.codePointAt(end) ?? 0);
      if (tagged === null) break;
      said += tagged;
      end += 2;
    }
    const isInside =
      wordEnd.test(text.slice(Math.max(0, from - 2), from)) &&
      wordStart.test(text.slice(end, end + 2));
    this.folding.copy(this.#plain, from);
    if (said.length >= leastTags || !isInside) {
      for (const [index, character] of [...said].entries()) {
        const at = from + 2 * index;
        this.folding.put(character, at, at + 2);
      }
    }
    this.#plain = end;
    return end;
  }

  #put(character: string, from: number, end: number): number {
    this.folding.copy(this.#plain, from);
    this.folding.put(character, from, end);
    this.#plain = end;
    return end;
  }

  /** Folds the character of a surrogate pair, and returns the position after it. */
  #pair(place: number): number {
    const character = String.fromCodePoint(this.#text.codePointAt(place) ?? 0);
    const end = place + character.length;
    if (character.length === 1) return end;
    const kind = kindOf(character);
    if (kind === kinds.tag) return this.#tags(place);
    if (kind === kinds.changing) return this.#cluster(place, end);
    return kind === kinds.plain ? end : this.#belated(place);
  }

  /** Folds a joining or invisible character together with the character before it. */
  #belated(place: number): number {
    const base = place > this.#plain ? this.#beginningBefore(place) : place;
    return this.#cluster(base, place);
  }

  #beginningBefore(place: number): number {
    const isPair = (this.#text.codePointAt(place - 2) ?? 0) > 0xffff;
    return isPair ? place - 2 : place - 1;
  }

  /** Adds a character, whose own units end at `until`, together with its marks. */
  #cluster(from: number, until: number): number {
    const text = this.#text;
    let [place, end, marked] = [until, until, text.slice(from, until)];
    while (place < text.length) {
      const character = String.fromCodePoint(text.codePointAt(place) ?? 0);
      const kind = kindAtOf(this.#kinds, character);
      if (kind === kinds.joining && marked.length < longestCluster) {
        marked += character;
        end = place + character.length;
      } else if (kind !== kinds.invisible) break;
      place += character.length;
    }
    this.folding.copy(this.#plain, from);
    this.folding.put(marked.normalize('NFKC'), from, end);
    this.#plain = place;
    return place;
  }

  #kindAt(place: number): number {
    return this.#kinds[this.#text.charCodeAt(place)] ?? plain;
  }
}

function kindAtOf(table: Uint8Array, character: string): number | undefined {
  return character.length === 1 ? table[character.charCodeAt(0)] : kindOf(character);
}
