import { RE2Set } from 're2js';
import type { GuardrailPattern } from './guardrail-pattern.ts';

/**
 * Bytes shared by the automata of a set, and the minimum for each; an automaton above its share resets its cache, so
 * memory stays bounded.
 */
const sharedBytes = 8_388_608;
const leastBytes = 1_048_576;

/**
 * Maximum number of patterns in one automaton, and of their instructions: the worst-case cost for each character of
 * text.
 */
const groupLength = 64;
const groupSize = 6_000;

/** Consecutive patterns that are matched together. */
interface Group {
  firstIndex: number;
  automaton: RE2Set;
}

/**
 * Matches many patterns against one text in linear time. The result equals that of matching each pattern separately.
 */
export class PatternSet {
  private readonly groups: readonly Group[];

  constructor(patterns: readonly GuardrailPattern[]) {
    const groups = groupsOf(patterns);
    const bytes = Math.max(leastBytes, sharedBytes / groups.length);
    this.groups = groups.map(({ firstIndex, sources }) => ({
      firstIndex,
      automaton: compile(sources, bytes),
    }));
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

/** Compiles at start-up, so that no request waits for it. */
function compile(sources: readonly string[], bytes: number): RE2Set {
  const automaton = new RE2Set(RE2Set.UNANCHORED, 0, bytes);
  for (const source of sources) automaton.add(source);
  automaton.compile();
  return automaton;
}

function groupsOf(
  patterns: readonly GuardrailPattern[],
): { firstIndex: number; sources: string[] }[] {
  const groups: { firstIndex: number; sources: string[] }[] = [];
  let size = 0;
  patterns.forEach((pattern, index) => {
    const sources = groups.at(-1)?.sources;
    size += pattern.size;
    if (sources === undefined || sources.length === groupLength || size > groupSize) {
      groups.push({ firstIndex: index, sources: [pattern.source] });
      size = pattern.size;
    } else sources.push(pattern.source);
  });
  return groups;
}
