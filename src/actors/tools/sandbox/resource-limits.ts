import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findProgram } from '../../process/process.ts';

/** Maximum processes of one sandbox. */
const mostProcesses = 256;

/**
 * Returns the command prefix that sets kernel limits; empty without `prlimit`.
 *
 * No core dumps, files of at most 256 MiB, 1,024 open files, and as much processor time as `timeout` (ms) allows on
 * every core, which also stops a process that escaped. The number of processes is limited only in a sandbox, where no
 * other process of the same user counts; the kernel exempts root.
 */
export function resourceLimits(timeout: number, isSandboxed: boolean): string[] {
  const program = findProgram('prlimit');
  if (program === null) return [];
  const atMost = hardLimits();
  const seconds = Math.ceil(timeout / 1000) * availableParallelism() + 1;
  return [
    program,
    '--core=0',
    `--fsize=${atMost('Max file size', 256 * 1024 * 1024)}`,
    `--nofile=${atMost('Max open files', 1024)}`,
    `--cpu=${atMost('Max cpu time', seconds)}`,
    ...(isSandboxed ? [`--nproc=${atMost('Max processes', mostProcesses)}`] : []),
    '--',
  ];
}

/** Limits cannot be raised, so a lower existing one is kept. */
function hardLimits(): (name: string, wanted: number) => number {
  const table = readFileSync('/proc/self/limits', 'utf8');
  return (name, wanted) => {
    const hard = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(table)?.[1];
    return Math.min(wanted, Number(hard ?? Number.POSITIVE_INFINITY));
  };
}
