import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** What Stryker keeps of the last time, as far as it is looked at here. */
interface KeptResults {
  files: Record<string, { mutants: { status: string }[] }>;
}

const noticed = ['Killed', 'Ignored', 'CompileError', 'RuntimeError'];

/**
 * Takes out of what is kept of the last time all that no test noticed, or that took too long, which on a busy machine
 * says nothing. Stryker by itself would try anew only what it knows to be reached by a test that is new.
 */
export function forgetMissed(file: string): void {
  if (!existsSync(file)) return;
  const kept = JSON.parse(readFileSync(file, 'utf8')) as KeptResults;
  for (const source of Object.values(kept.files)) {
    source.mutants = source.mutants.filter(({ status }) => noticed.includes(status));
  }
  writeFileSync(file, JSON.stringify(kept));
}
