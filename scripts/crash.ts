// Kills daemons, connections and the database under load, and looks whether every promise was kept.
import { parseArgs } from 'node:util';
import type { StoreKind } from './crash/cluster.ts';
import { runRounds } from './crash/rounds.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'on-restart': { type: 'string', default: 'resume' },
  },
});
// What it waits for holds no process open.
const alive = setInterval(() => undefined, 1_000);
const result = await runRounds({
  store: values.store as StoreKind,
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  onRestart: values['on-restart'] === 'abandon' ? 'abandon' : 'resume',
  tell: (line) => console.log(line),
});
clearInterval(alive);
console.log({ seed: Number(values.seed), ...result });
process.exit(result.broken.length === 0 ? 0 : 1);
