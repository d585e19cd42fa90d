import { readFileSync } from 'node:fs';

/** Linux counts the time of processes in hundredths of a second. */
const millisecondsPerTick = 10;

/** Returns the CPU time that a process and its threads have used so far, in milliseconds. */
export function cpuTimeOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
}
