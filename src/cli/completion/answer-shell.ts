import type { Command } from 'commander';
import { shellWord } from '../../machines/shell-word.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { beginningWith, type Candidate, completeLine } from './complete-line.ts';
import { knownValues } from './known-values.ts';

/**
 * `complete -- WORDS…`, called by the scripts of `completion`. The first line is the shell's own completion to add:
 * `nothing`, `files` or `folders`. Each further line is a candidate, a tab and its description. Failed look-ups are
 * omitted silently.
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

/** Callers choose task IDs, so completion must not insert text that a shell would execute. */
function isPlain({ value }: Candidate): boolean {
  return value === shellWord(value);
}
