import { hearDisk } from '../../test/actors/records/sqlite/disk-steps.ts';
import { aTask, aWrite } from '../../test/helpers/stored-tasks.ts';
import { rotatingStore } from './log-of-soak.ts';

const [, , directory = '', life = '', killAt = '0'] = process.argv;

// Saves and decides tasks until it is killed, from outside or by itself at a numbered step of the disk.
if (Number(killAt) > 0) {
  hearDisk(({ number, name, writeHalf }) => {
    if (number < Number(killAt)) return;
    if (name === 'writeSync') writeHalf();
    process.kill(process.pid, 'SIGKILL');
  });
}
const store = await rotatingStore(directory);
for (let round = 0; ; round += 1) {
  const ids = [0, 1, 2].map((part) => `${life}-${round}-${part}`);
  for (const id of ids) {
    void store.save(id, () => aWrite(aTask({ id }))).then(() => tell(`saved ${id}`));
  }
  await store.record([{ event: 'tool_exec', ts: new Date().toISOString(), fields: { round } }]);
  for (const id of ids) {
    const decided = aTask({ id, revision: 2, state: 'completed' });
    await store.save(id, () => aWrite(decided)).then(() => tell(`decided ${id}`));
  }
}

function tell(what: string): void {
  process.stdout.write(`${what}\n`);
}
