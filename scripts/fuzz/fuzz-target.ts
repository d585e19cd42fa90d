import { Chance } from '../../test/helpers/chance.ts';
import { bend } from './bend.ts';
import { placesReached, takeNews, wordsCompared } from './coverage.ts';
import { keptMemory } from './kept-memory.ts';

/** What is fuzzed: it throws for what is wrong with the product alone. */
export interface Target {
  /** Texts that it takes, from which the others are made. */
  seeds: readonly string[];
  take: (bytes: Buffer) => Promise<void>;
}

/** A string that something is wrong with. */
interface Finding {
  input: string;
  problem: string;
}

export interface Fuzzed {
  runs: number;
  /** Texts that reached something that those before them had not. */
  kept: number;
  /** Places of the code, of all that were loaded. */
  places: number;
  /** Heap after a collection, in MiB, when half of the runs' time was over, and at their end. */
  memory: [half: number, end: number];
  /** Milliseconds that the slowest text took. */
  slowest: number;
  findings: Finding[];
}

/** Milliseconds that one text may take. */
const patience = 2_000;

/** Gives a target texts that are bent towards what its code has not done yet, for some milliseconds. Never rejects. */
export async function fuzzTarget(target: Target, time: number, seed: number): Promise<Fuzzed> {
  const chance = new Chance(seed);
  const corpus: Buffer[] = target.seeds.map((text) => Buffer.from(text));
  const fuzzed: Fuzzed = {
    ...{ runs: 0, kept: 0, places: 0, slowest: 0 },
    memory: [0, 0],
    findings: [],
  };
  const begun = Date.now();
  let words: readonly string[] = [];
  takeNews();
  while (Date.now() - begun < time && fuzzed.findings.length < 5) {
    const isSeed = fuzzed.runs < corpus.length && fuzzed.kept === 0;
    const text = isSeed
      ? (corpus[fuzzed.runs] as Buffer)
      : bend(recent(corpus, chance), { chance, words, others: corpus });
    const took = await run(target, text, fuzzed);
    // The first texts load what others find loaded.
    if (!isSeed) judgeTime(text, took, fuzzed);
    if (takeNews() && !isSeed) {
      corpus.push(text);
      fuzzed.kept += 1;
    }
    if (fuzzed.runs % 256 === 0) words = wordsCompared();
    if (fuzzed.memory[0] === 0 && Date.now() - begun > time / 2) fuzzed.memory[0] = keptMemory();
  }
  return { ...fuzzed, places: placesReached(), memory: [fuzzed.memory[0], keptMemory()] };
}

/** What was found last leads on more often. */
function recent(corpus: readonly Buffer[], chance: Chance): Buffer {
  const from = chance.below(2) === 0 ? Math.max(0, corpus.length - 32) : 0;
  return chance.pick(corpus.slice(from));
}

async function run(target: Target, text: Buffer, fuzzed: Fuzzed): Promise<number> {
  fuzzed.runs += 1;
  const since = performance.now();
  try {
    await target.take(text);
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    fuzzed.findings.push({ input: text.toString('base64'), problem });
  }
  return performance.now() - since;
}

function judgeTime(text: Buffer, took: number, fuzzed: Fuzzed): void {
  fuzzed.slowest = Math.max(fuzzed.slowest, Math.round(took));
  if (took <= patience) return;
  fuzzed.findings.push({
    input: text.toString('base64'),
    problem: `took ${Math.round(took)} ms`,
  });
}
