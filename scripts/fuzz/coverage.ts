/** Counts of a module, one for each place where its code can branch. */
const modules: Uint8Array[] = [];

/** For each count how often it was seen to be reached, in powers of two. */
const seen: Uint8Array[] = [];

/** Words that the code compared what it was given with. */
const compared = new Set<string>();

/** Words that are remembered at most, and their longest. */
const most = 4_000;
const longest = 64;

function note(...words: unknown[]): void {
  for (const word of words) {
    if (typeof word !== 'string' && typeof word !== 'number') continue;
    const text = String(word);
    if (text !== '' && text.length <= longest && compared.size < most) compared.add(text);
  }
}

function compare(one: unknown, other: unknown, operator: string): boolean {
  note(one, other);
  switch (operator) {
    case '===':
      return one === other;
    case '!==':
      return one !== other;
    case '<':
      return Number(one) < Number(other);
    case '<=':
      return Number(one) <= Number(other);
    case '>':
      return Number(one) > Number(other);
    case '>=':
      return Number(one) >= Number(other);
    default:
      throw new Error(`the code compares with ${operator}, which is not known here`);
  }
}

/** What instrumented modules report to, under the name that the instrumentation gives it. */
export const watcher = {
  coverageTracker: {
    createModuleCounters(places: number): Uint8Array {
      const counts = new Uint8Array(places);
      modules.push(counts);
      seen.push(new Uint8Array(places));
      return counts;
    },
  },
  tracer: {
    traceStrCmp: compare,
    traceNumberCmp: compare,
    traceAndReturn(current: unknown, target: unknown): unknown {
      note(current, target);
      return target;
    },
  },
};

/** Forgets what was reached since the last time, and returns whether something was reached that never was, or that often. */
export function takeNews(): boolean {
  let isNew = false;
  for (const [at, counts] of modules.entries()) {
    const known = seen[at] as Uint8Array;
    for (let place = 0; place < counts.length; place += 1) {
      const count = counts[place] as number;
      if (count === 0) continue;
      counts[place] = 0;
      const bit = 1 << Math.min(7, 31 - Math.clz32(count));
      const before = known[place] as number;
      if ((before & bit) !== 0) continue;
      known[place] = before | bit;
      isNew = true;
    }
  }
  return isNew;
}

/** How many places of the code have been reached. */
export function placesReached(): number {
  return seen.reduce(
    (sum, known) => sum + known.reduce((count, bits) => count + Math.min(1, bits), 0),
    0,
  );
}

/** The words that the code has compared with so far. */
export function wordsCompared(): readonly string[] {
  return [...compared];
}
