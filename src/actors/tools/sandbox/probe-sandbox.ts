import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { findProgram, makeRunFolder, scriptPath } from '../../process/process.ts';
import { isolate } from './isolate.ts';
import type { SandboxLevel, SandboxSetting } from './sandbox-level.ts';

/** What can be had of the sandbox that was asked for. */
export interface SandboxProbe {
  /** The level scripts run at. */
  level: SandboxLevel;
  /** What should be mended, although the agent starts. */
  warning?: string;
  /** Why the agent must not start, and how to mend it. */
  problem?: string;
}

/** The absolute path of a program; `null` when there is none. */
type Find = (program: string) => string | null;

/** Milliseconds that a sandbox may take to run nothing. */
const patience = 10_000;

/**
 * Tries the sandbox that `egress.sandbox` asks for. `bwrap` that does not work is a problem; with `auto`
 * it is a warning and the level is `env`. Looks for programs where scripts do unless told otherwise.
 * Never rejects.
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

/** Returns why no script can be run in a sandbox, and what to do; `null` when one can. */
async function sandboxFailure(find: Find): Promise<string | null> {
  if (find('bwrap') === null) {
    return 'bwrap is not installed; install the package bubblewrap (0.8 or later)';
  }
  try {
    const said = await runNothing();
    if (said === null) return null;
    return `bwrap does not work here (${said}); update the package bubblewrap to 0.8 or later and allow user namespaces`;
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
    return said.trim().split('\n').at(-1)?.slice(0, 200) || 'it does not say why';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
