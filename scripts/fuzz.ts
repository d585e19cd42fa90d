// Gives everything that reads what others wrote texts that are bent towards what its code has not done yet: `npm run fuzz`,
// or `npm run fuzz -- config token --seconds 600`. Each finding is printed with its text in base64, which `--replay` takes.
import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { watcher } from './fuzz/coverage.ts';
import { fuzzTarget, type Target } from './fuzz/fuzz-target.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
  },
});

// Instrumented modules say under this name where they have been.
Reflect.set(globalThis, 'Fuzzer', watcher);
Reflect.set(globalThis, '__jazzer_registerSourceMap', () => undefined);
register('./fuzz/strip-loader.ts', import.meta.url);
register('@jazzer.js/instrumentor/dist/esm-loader.mjs', import.meta.url, {
  data: { includes: ['/src/'], excludes: [], coverage: false, seed: 1 },
});

const { targets } = (await import('./fuzz/targets.ts')) as {
  targets: Readonly<Record<string, Target>>;
};
const names = positionals.length === 0 ? Object.keys(targets) : positionals;
const strange = names.find((name) => targets[name] === undefined);
if (strange !== undefined) {
  console.error(`There is no target ${strange}; there are ${Object.keys(targets).join(', ')}.`);
  process.exit(2);
}

if (values.replay !== undefined) {
  for (const name of names) await targets[name]?.take(Buffer.from(values.replay, 'base64'));
  process.exit(0);
}

let findings = 0;
for (const name of names) {
  const target = targets[name] as Target;
  const fuzzed = await fuzzTarget(target, Number(values.seconds) * 1_000, Number(values.seed));
  const { runs, kept, places, memory, slowest } = fuzzed;
  console.log(
    `${name}: ${runs} texts, ${kept} kept, ${places} places, slowest ${slowest} ms, heap ${memory.join(' then ')} MiB`,
  );
  for (const { input, problem } of fuzzed.findings) {
    console.log(`  ${problem}\n  npm run fuzz -- ${name} --replay=${input}`);
  }
  findings += fuzzed.findings.length;
}
process.exit(findings === 0 ? 0 : 1);
