import { LRUCache } from 'lru-cache';
import { RE2Set } from 're2js';
import { LiteralScanner } from './literal-scanner.ts';
import type { Pattern } from './pattern.ts';
import type { Choice } from './required-literals.ts';

/** Bytes of one automaton; above them it starts afresh, so memory stays bounded. */
const automatonBytes = 1_048_576;

/** Automata of single patterns kept at once. */
const keptAutomata = 500;

/** Patterns run one by one on a text; of more, those run together that share an automaton. */
const mostSingle = 128;

/** Patterns that may wait for one string before another choice of theirs is taken. */
const mostWaiting = 64;

/** Patterns without a required string that share an automaton, and their size in nodes. */
const groupLength = 64;
const groupSize = 6_000;

/** Patterns that are looked for together, because no string tells when one of them cannot match. */
interface Group {
  indexes: number[];
  automaton: RE2Set | null;
}

/**
 * Many patterns matched against one text. One pass finds the strings that patterns require; only
 * the patterns whose string is there, or that require none, are run. The answer is that of running all.
 */
export class PatternSet {
  private readonly scanner: LiteralScanner;
  private readonly groups: Group[];
  /** The others, for texts that hold the strings of very many. */
  private readonly crowds: Group[];
  private readonly automata = new LRUCache<number, RE2Set>({ max: keptAutomata });
  private readonly patterns: readonly Pattern[];

  constructor(patterns: readonly Pattern[]) {
    this.patterns = patterns;
    this.scanner = new LiteralScanner(
      chosenLiterals(patterns).flatMap((choice, owner) =>
        choice.map((literal) => ({ literal, owner })),
      ),
    );
    this.groups = groupsOf(patterns, ({ choices }) => choices.length === 0);
    this.crowds = groupsOf(patterns, ({ choices }) => choices.length > 0);
  }

  /** Returns the index of the first pattern that matches anywhere in the text, or `null`. */
  firstMatch(text: string): number | null {
    const { single, groups } = this.candidates(text);
    let first = single.find((index) => this.matches(index, text)) ?? Number.POSITIVE_INFINITY;
    for (const group of groups) {
      if ((group.indexes[0] ?? 0) < first) first = Math.min(first, ...this.matchGroup(group, text));
    }
    return Number.isFinite(first) ? first : null;
  }

  /** Returns the indexes of all patterns that match anywhere in the text, in order. */
  allMatches(text: string): number[] {
    const { single, groups } = this.candidates(text);
    return [
      ...single.filter((index) => this.matches(index, text)),
      ...groups.flatMap((group) => this.matchGroup(group, text)),
    ].sort((one, other) => one - other);
  }

  /** What may match a text: patterns to be run alone, in order, and groups of patterns. */
  private candidates(text: string): { single: number[]; groups: Group[] } {
    const found = this.scanner.scan(text);
    if (found.size <= mostSingle) {
      return { single: [...found].sort((one, other) => one - other), groups: this.groups };
    }
    const crowds = this.crowds.filter(({ indexes }) => indexes.some((index) => found.has(index)));
    return { single: [], groups: [...this.groups, ...crowds] };
  }

  private matches(index: number, text: string): boolean {
    let automaton = this.automata.get(index);
    if (automaton === undefined) {
      automaton = this.compile([index]);
      this.automata.set(index, automaton);
    }
    return automaton.match(text).length > 0;
  }

  private matchGroup(group: Group, text: string): number[] {
    group.automaton ??= this.compile(group.indexes);
    return group.automaton.match(text).flatMap((place) => group.indexes[place] ?? []);
  }

  private compile(indexes: readonly number[]): RE2Set {
    const set = new RE2Set(RE2Set.UNANCHORED, 0, automatonBytes);
    for (const index of indexes) {
      const pattern = this.patterns[index];
      if (pattern === undefined) throw new RangeError(`there is no pattern ${index}`);
      set.add(pattern.source);
    }
    set.compile();
    return set;
  }
}

/** Takes for each pattern its most telling choice, or, when too many wait for that one, the rarest. */
function chosenLiterals(patterns: readonly Pattern[]): Choice[] {
  const waiting = new Map<string, number>();
  for (const literal of patterns.flatMap(({ choices }) => choices.flat())) {
    waiting.set(literal, (waiting.get(literal) ?? 0) + 1);
  }
  const crowdOf = (choice: Choice) =>
    Math.max(...choice.map((literal) => waiting.get(literal) ?? 0));
  return patterns.map(({ choices }) => {
    const telling = choices.find((choice) => crowdOf(choice) <= mostWaiting);
    const [rarest = []] = choices.toSorted((one, other) => crowdOf(one) - crowdOf(other));
    return telling ?? rarest;
  });
}

function groupsOf(patterns: readonly Pattern[], belongs: (pattern: Pattern) => boolean): Group[] {
  const groups: Group[] = [];
  let size = 0;
  patterns.forEach((pattern, index) => {
    if (!belongs(pattern)) return;
    const group = groups.at(-1);
    size += pattern.size;
    if (group === undefined || group.indexes.length === groupLength || size > groupSize) {
      groups.push({ indexes: [index], automaton: null });
      size = pattern.size;
    } else group.indexes.push(index);
  });
  return groups;
}
