// Kills daemons, connections and the database under load, and looks whether every promise was kept. `--gate` has the load
// of a gate, `--bursts 1000` asks it that often for ten calls under a limit at once; `--hooks` kills real hooks, programs and the gate that they ask.
import { parseArgs } from 'node:util';
import type { StoreKind } from './crash/cluster.ts';
import { runHookKills } from './crash/hook-kills.ts';
import { runRounds } from './crash/rounds.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'on-restart': { type: 'string', default: 'resume' },
    gate: { type: 'boolean', default: false },
    hooks: { type: 'boolean', default: false },
    bursts: { type: 'string' },
  },
});
// What it waits for holds no process open.
const alive = setInterval(() => undefined, 1_000);
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const tell = (line: string) => console.log(line);
const result = values.hooks
  ? await runHookKills({ kills: rounds, seed, tell })
  : await runRounds({
      store: values.store as StoreKind,
      rounds,
      seed,
      kind: values.gate || values.bursts ? 'gate' : 'agent',
      ...(values.bursts === undefined ? {} : { bursts: Number(values.bursts) }),
      onRestart: values['on-restart'] === 'abandon' ? 'abandon' : 'resume',
      tell,
    });
clearInterval(alive);
console.log({ seed, ...result });
process.exit(result.broken.length === 0 ? 0 : 1);
