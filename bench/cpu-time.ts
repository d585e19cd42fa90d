import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts the time of processes in hundredths of a second. */
const millisecondsPerTick = 10;

/** Returns the CPU time that a process and its threads have used so far, in milliseconds. */
export function cpuTimeOf(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
}

/** Returns the CPU time of all programs that this process has started and that have ended, in milliseconds. */
export function cpuTimeOfEnded(): number {
  const fields = statOf(process.pid);
  return (Number(fields[13]) + Number(fields[14])) * millisecondsPerTick;
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may hold spaces.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Returns the CPU time that a process, and all that it has started, have used so far, in milliseconds. */
export function cpuTimeOfFamily(pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + cpuTimeOf(member), 0);
}

/** Lists a process, and those that it and they have started and that still run. */
export function familyOf(pid: number): number[] {
  const family = [pid];
  // A list visits what is added while it is walked.
  for (const member of family) family.push(...childrenOf(member));
  return family;
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter((child) => child !== '')
      .map(Number),
  );
}
