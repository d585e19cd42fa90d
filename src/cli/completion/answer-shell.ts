import type { Command } from 'commander';
import { shellWord } from '../../machines/shell-word.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { beginningWith, type Candidate, completeLine } from './complete-line.ts';
import { knownValues } from './known-values.ts';

/**
 * `complete -- WORDS…`, which the scripts of `completion` call: a first line that says what the shell offers besides,
 * `nothing`, `files` or `folders`, then a line for each candidate with a tab before its description. What cannot be
 * found out is left out without a word.
 */
export async function answerShell(
  { output, env }: Session,
  program: Command,
  words: readonly string[],
): Promise<void> {
  const { also, candidates, wanted } = completeLine(program, words);
  const known = wanted === null ? [] : await knownValues(wanted, env).catch(() => []);
  const all = [...candidates, ...beginningWith(words.at(-1) ?? '', known)].filter(isPlain);
  const lines = all.map(({ value, description }) => `${value}\t${plainLine(description)}`);
  output.stdout.write(`${[also, ...lines].join('\n')}\n`);
}

/** Callers choose the ids of tasks, and a key press must put nothing on a command line that a shell would run. */
function isPlain({ value }: Candidate): boolean {
  return value === shellWord(value);
}
