import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findProgram } from '../../process/process.ts';

/** Processes of one sandbox at once. */
const mostProcesses = 256;

/**
 * The words that go before a command line to run it under the limits of the kernel; none where there is no
 * `prlimit`.
 *
 * No core dumps, files of at most 256 MiB, 1,024 open files, and as much processor time as `timeout`
 * (ms) has on every core, which in the end also stops a process that got away. The number of processes is
 * limited in a sandbox alone, where no other process of the same user counts; the kernel spares root.
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

/** No limit may be raised, so one that is lower already stays. */
function hardLimits(): (name: string, wanted: number) => number {
  const table = readFileSync('/proc/self/limits', 'utf8');
  return (name, wanted) => {
    const hard = new RegExp(`^${name} +\\S+ +(\\d+)`, 'm').exec(table)?.[1];
    return Math.min(wanted, Number(hard ?? Number.POSITIVE_INFINITY));
  };
}
