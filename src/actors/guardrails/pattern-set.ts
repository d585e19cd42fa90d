import { RE2Set } from 're2js';
import type { Pattern } from './pattern.ts';

/** Bytes of one automaton; above them it starts afresh, so memory stays bounded. */
const automatonBytes = 1_048_576;

/** Patterns that share an automaton, and their instructions: what a character of text may cost at worst. */
const groupLength = 64;
const groupSize = 6_000;

/** Patterns that stand one after the other and are looked for together. */
interface Group {
  firstIndex: number;
  automaton: RE2Set;
}

/** Many patterns matched against one text, in time that grows with the text. The answer is that of running each. */
export class PatternSet {
  private readonly groups: readonly Group[];

  constructor(patterns: readonly Pattern[]) {
    this.groups = groupsOf(patterns);
    // At the start, so that no request waits for it.
    for (const { automaton } of this.groups) automaton.compile();
  }

  /** Returns the index of the first pattern that matches anywhere in the text, or `null`. */
  firstMatch(text: string): number | null {
    for (const group of this.groups) {
      const [first] = matchesOf(group, text);
      if (first !== undefined) return first;
    }
    return null;
  }

  /** Returns the indexes of all patterns that match anywhere in the text, in order. */
  allMatches(text: string): number[] {
    return this.groups.flatMap((group) => matchesOf(group, text));
  }
}

function matchesOf({ firstIndex, automaton }: Group, text: string): number[] {
  const places = automaton.match(text).sort((one, other) => one - other);
  return places.map((place) => firstIndex + place);
}

function groupsOf(patterns: readonly Pattern[]): Group[] {
  const groups: Group[] = [];
  let length = 0;
  let size = 0;
  patterns.forEach((pattern, index) => {
    length += 1;
    size += pattern.size;
    if (index === 0 || length > groupLength || size > groupSize) {
      const automaton = new RE2Set(RE2Set.UNANCHORED, 0, automatonBytes);
      groups.push({ firstIndex: index, automaton });
      length = 1;
      size = pattern.size;
    }
    groups.at(-1)?.automaton.add(pattern.source);
  });
  return groups;
}
