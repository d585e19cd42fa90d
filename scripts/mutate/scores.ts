import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';

/** How many of the changes of a folder its tests noticed. */
export interface FolderScore {
  folder: string;
  noticed: number;
  unnoticed: number;
  percent: number;
}

const isNoticed = ({ status }: MutantResult) => status === 'Killed' || status === 'Timeout';
const isMissed = ({ status }: MutantResult) => status === 'Survived' || status === 'NoCoverage';

/** Counts the changes of a folder. One that no program could be made of counts nowhere. */
export function scoreOf(folder: string, mutants: readonly MutantResult[]): FolderScore {
  const noticed = mutants.filter(isNoticed).length;
  const missed = mutants.filter(isMissed).length;
  const percent = Math.floor((1_000 * noticed) / Math.max(1, noticed + missed)) / 10;
  return { folder, noticed, unnoticed: missed, percent };
}

/** Returns a line for each change that no test noticed: where it is, and what was put there. */
export function unnoticed(mutants: readonly MutantResult[]): string[] {
  return mutants.filter(isMissed).map(({ fileName, location: { start }, replacement, status }) => {
    const put = replacement.replaceAll(/\s+/g, ' ').slice(0, 200);
    const why = status === 'NoCoverage' ? ' (no test runs it)' : '';
    return `${relative(process.cwd(), fileName)}:${start.line}:${start.column}: ${put}${why}`;
  });
}
