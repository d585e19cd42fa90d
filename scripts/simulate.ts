// Plays simulated stories with faults and looks at every invariant: `npm run simulate -- --seeds 10000`, from `--first`.
// A schedule that breaks something is printed with its seed, which repeats it: `npm run simulate -- --first 17 --seeds 1`.
import { mkdirSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { simulate } from '../test/simulation/simulation.ts';
import { memoryFolder } from '../test/tooling/memory-folder.ts';

const { seeds, first } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    first: { type: 'string', default: '1' },
  },
}).values;
// Each commit waits for the disk otherwise.
const folder = memoryFolder();
if (folder !== null) {
  mkdirSync(folder);
  process.env['TMPDIR'] = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}
const broken: number[] = [];
const total = { tasks: 0, holds: 0, decisions: 0, runs: 0, kills: 0 };
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1) {
  const result = await simulate(seed);
  for (const name of ['tasks', 'holds', 'decisions', 'runs', 'kills'] as const)
    total[name] += result[name];
  if (result.broken.length === 0) continue;
  broken.push(seed);
  console.log(`seed ${seed}: ${result.story.join(', ')}`);
  for (const what of result.broken) console.log(`  ${what}`);
}
console.log({ seeds: Number(seeds), first: Number(first), ...total, broken });
process.exit(broken.length === 0 ? 0 : 1);
