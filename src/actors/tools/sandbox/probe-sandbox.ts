import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { findProgram, makeRunFolder, scriptPath } from '../../process/process.ts';
import { isolate } from './isolate.ts';
import type { SandboxLevel, SandboxSetting } from './sandbox-level.ts';

/** Availability of the requested sandbox. */
export interface SandboxProbe {
  /** Isolation level of scripts. */
  level: SandboxLevel;
  /** A problem that should be fixed but does not prevent start-up. */
  warning?: string;
  /** Why the agent must not start, with the remedy. */
  problem?: string;
}

/** Returns the absolute path of a program; `null` if there is none. */
type Find = (program: string) => string | null;

/** Timeout of a test run in the sandbox, in milliseconds. */
const patience = 10_000;

/**
 * Tests the sandbox requested by `egress.sandbox`. If `bwrap` does not work, this is a problem; with `auto` it is a
 * warning and the level is `env`. Searches programs on the path of scripts by default. Never rejects.
 */
export async function probeSandbox(
  setting: SandboxSetting,
  find: Find = findProgram,
): Promise<SandboxProbe> {
  if (setting === 'env') return { level: 'env', ...missingLimits(find) };
  const failure = await sandboxFailure(find);
  if (failure === null) return { level: 'bwrap', ...missingLimits(find) };
  if (setting === 'bwrap') {
    return {
      level: 'bwrap',
      problem: `egress.sandbox is bwrap, but ${failure}, or set egress.sandbox to env`,
    };
  }
  return { level: 'env', warning: `scripts run without a sandbox: ${failure}` };
}

function missingLimits(find: Find): { warning?: string } {
  if (find('prlimit') !== null) return {};
  return {
    warning:
      'scripts run without resource limits, as prlimit is not installed; install the package util-linux',
  };
}

/** Returns why scripts cannot run in a sandbox, with the remedy; `null` if they can. */
async function sandboxFailure(find: Find): Promise<string | null> {
  if (find('bwrap') === null) {
    return 'bwrap is not installed; install the package bubblewrap (0.8 or later)';
  }
  try {
    const said = await runNothing();
    if (said === null) return null;
    return `bwrap does not work on this machine (${said}); update the package bubblewrap to 0.8 or later and allow user namespaces`;
  } catch {
    return 'bwrap could not be tried; see that the temporary folder can be written to';
  }
}

async function runNothing(): Promise<string | null> {
  const folder = await makeRunFolder();
  try {
    const { program, args } = await isolate(process.execPath, ['--version'], {
      level: 'bwrap',
      agentDirectory: folder,
      hidden: [],
      writable: [],
      home: folder,
      proxy: null,
      timeout: patience,
    });
    const stdio = ['ignore', 'ignore', 'pipe', 'pipe'] as const;
    const child = spawn(program, args, { stdio: [...stdio], env: { PATH: scriptPath } });
    const timer = setTimeout(() => child.kill('SIGKILL'), patience);
    const [control, errors] = [child.stdio[3], child.stderr] as [
      NodeJS.ReadableStream,
      NodeJS.ReadableStream,
    ];
    const [how, said] = await Promise.all([text(control), text(errors), once(child, 'close')]);
    clearTimeout(timer);
    if (how === '{"code":0,"signal":null}') return null;
    return said.trim().split('\n').at(-1)?.slice(0, 200) || 'no reason given';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
