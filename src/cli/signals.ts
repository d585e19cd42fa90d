import { closeSync, constants, openSync } from 'node:fs';
import { constants as system } from 'node:os';
import type { Log } from '../actors/ports/log.ts';
import type { Interruption } from './interruption.ts';

/** Signals that request an end or announce one. */
const ending: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGQUIT', 'SIGPWR', 'SIGXCPU'];

/**
 * Signals whose default action ends the process or opens the debugger (SIGUSR1), although they have no meaning for a
 * daemon. Node already ignores SIGPIPE and SIGXFSZ. Fault signals (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP) are not
 * caught: a process that catches them would continue in a corrupt state or fail at the same instruction forever.
 */
const strays: readonly NodeJS.Signals[] = [
  ...(['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGPROF'] as const),
  ...(['SIGIO', 'SIGSTKFLT', 'SIGSYS', 'SIGABRT'] as const),
];

/** Flags that make Node use SIGPROF for profiling. */
const profiling = /(^|\s)--(cpu-prof|prof)(?![^\s=])/;

/** Minimum interval in milliseconds between two log lines about one signal, so its sender cannot flood the log. */
const notePause = 60_000;

/**
 * Forwards every catchable signal to the interruption (docs/contract/serve.md). `flags` are Node's own flags; SIGPROF
 * is not caught while Node is profiled.
 */
export function hearSignals(interruption: Interruption, flags: string = nodeFlags()): void {
  const heard = strays.filter((signal) => signal !== 'SIGPROF' || !profiling.test(flags));
  const hear = (signals: readonly NodeJS.Signals[], listener: (signal: string) => void): void => {
    for (const signal of signals) if (signal in system.signals) process.on(signal, listener);
  };
  hear(['SIGINT'], () => interruption.interrupt());
  hear(ending, () => interruption.terminate());
  hear(heard, (signal) => interruption.stray(signal));
  const hadTerminal = hasTerminal();
  hear(['SIGHUP'], (signal) => {
    if (hadTerminal && !hasTerminal()) interruption.terminate();
    else interruption.stray(signal);
  });
}

/** Logs the signals that a daemon ignores, at most once a minute per signal. */
export function strayNotes(log: Pick<Log, 'warn'>, now = () => performance.now()) {
  const noted = new Map<string, number>();
  return (signal: string): void => {
    const last = noted.get(signal);
    if (last !== undefined && now() - last < notePause) return;
    noted.set(signal, now());
    log.warn({ signal }, 'the signal is ignored');
  };
}

function nodeFlags(): string {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
}

/** Returns true if a terminal controls this process; false after the terminal hung up. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}
