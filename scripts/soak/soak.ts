import { parseArgs } from 'node:util';
import { killWriters } from './kill-writers.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    minutes: { type: 'string', default: '10' },
  },
});
const kills = Number(values.kills);
const report = await killWriters({
  kills,
  limit: Number(values.minutes) * 60_000,
  onKill: (number) => number % 50 === 0 && console.error(`${number} of ${kills}`),
});
for (const sentence of report.wrong) console.error(sentence);
console.log(
  `${report.kills} kills in ${report.seconds} s, ${report.kept} changes kept, ${report.files} files, ${report.wrong.length} things wrong`,
);
if (report.wrong.length > 0 || report.kills < kills) process.exitCode = 1;
