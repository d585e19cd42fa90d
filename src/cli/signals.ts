import { closeSync, constants, openSync } from 'node:fs';
import { constants as system } from 'node:os';
import type { Log } from '../actors/ports.ts';
import type { Interruption } from './interruption.ts';

/** Signals whose sender wants an end, or knows that one is near. */
const ending: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGQUIT', 'SIGPWR', 'SIGXCPU'];

/**
 * These would end a process, or open its debugger (SIGUSR1), and say nothing to us. Node ignores SIGPIPE and SIGXFSZ
 * by itself. Those of a program that is broken (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP) are left alone:
 * one that caught them would go on broken, or fail at the same place for ever.
 */
const strays: readonly NodeJS.Signals[] = [
  ...(['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGPROF'] as const),
  ...(['SIGIO', 'SIGSTKFLT', 'SIGSYS', 'SIGABRT'] as const),
];

/** Flags with which Node profiles itself by SIGPROF. */
const profiling = /(^|\s)--(cpu-prof|prof)(?![^\s=])/;

/** Milliseconds between two log lines about one signal, so that its sender cannot fill the log. */
const notePause = 60_000;

/**
 * Hands every signal that can be caught to the interruption (docs/contract/serve.md). `flags` are those that Node runs
 * with: SIGPROF is left alone while it is profiled.
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

/** Notes the signals that a daemon ignores, each kind once a minute at most. */
export function strayNotes(log: Pick<Log, 'warn'>, now = () => performance.now()) {
  const noted = new Map<string, number>();
  return (signal: string): void => {
    const last = noted.get(signal);
    if (last !== undefined && now() - last < notePause) return;
    noted.set(signal, now());
    log.warn({ signal }, 'the signal says nothing to this agent and is ignored');
  };
}

function nodeFlags(): string {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
}

/** Tells whether a terminal controls this process; one that has hung up no longer does. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}
