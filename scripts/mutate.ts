// Asks tests whether they would notice a change: `npm run mutate -- machines/task`, or every folder that Holdpoint exists
// for. Says for each how many of the changes its own tests noticed, and which they did not. After more tests `--rest`
// tries again what they did not notice the last time, or not in time.
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { mutatedFolders } from './mutate/folders.ts';
import { forgetMissed } from './mutate/forget-missed.ts';
import { keptResults, strykerOptions } from './mutate/options.ts';
import { type FolderScore, scoreOf, unnoticed } from './mutate/scores.ts';

/** A folder below it is not tested well enough, in percent. */
const least = 90;

const folders = mutatedFolders();
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rest: { type: 'boolean', default: false } },
});
const strange = positionals.find((name) => !folders.includes(name));
if (strange !== undefined) {
  console.error(`${strange} is none of the folders; they are ${folders.join(', ')}.`);
  process.exit(2);
}

const scores: FolderScore[] = [];
for (const folder of positionals.length === 0 ? folders : positionals) {
  process.env['HOLDPOINT_MUTATED'] = folder;
  if (values.rest) forgetMissed(keptResults(folder));
  const mutants = await new Stryker(strykerOptions(folder, values.rest)).runMutationTest();
  for (const line of unnoticed(mutants)) console.log(line);
  scores.push(scoreOf(folder, mutants));
  console.table(scores);
}
process.exit(scores.every(({ percent }) => percent >= least) ? 0 : 1);
