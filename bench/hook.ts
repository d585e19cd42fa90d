import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { writeBundle } from '../scripts/build/write-bundle.ts';
import { cpuTimeOfEnded } from './cpu-time.ts';
import type { Figure } from './figure.ts';
import { openGate } from './gate.ts';
import { percentile } from './load.ts';

const rounds = 30;

/** How long each run took, and the CPU milliseconds of all. */
interface Runs {
  times: number[];
  cpu: number;
}

/** A hook as a coding agent starts it for an allowed call, from the package, in turns with a program of Node that does nothing. */
export async function hookFigures(): Promise<Figure[]> {
  const place = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  const { directory, close } = await openGate();
  try {
    cpSync(join(import.meta.dirname, '../bin'), join(place, 'bin'), { recursive: true });
    await writeBundle(join(place, 'dist'));
    const hook: Runs = { times: [], cpu: 0 };
    const node: Runs = { times: [], cpu: 0 };
    const words = ['hook', 'claude-code', '--dir', directory];
    for (let round = -2; round < rounds; round += 1) {
      // The first rounds write what is compiled.
      const isCounted = round >= 0;
      await run(process.execPath, ['-e', '0'], '', isCounted ? node : null);
      await run(join(place, 'bin/holdpoint'), words, eventOf(round), isCounted ? hook : null);
    }
    return [
      { what: 'hook of an allowed call, from the package', measured: said(hook), aim: '80 ms' },
      { what: "hook: Node's own start (node -e 0)", measured: said(node), aim: '' },
    ];
  } finally {
    await close();
    rmSync(place, { recursive: true, force: true });
  }
}

async function run(program: string, words: string[], input: string, runs: Runs | null) {
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const before = cpuTimeOfEnded();
  const began = performance.now();
  const child = spawn(program, words, {
    env: { ...process.env, PATH: path },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.on('error', () => undefined).end(input);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
  runs?.times.push(performance.now() - began);
  if (runs !== null) runs.cpu += cpuTimeOfEnded() - before;
}

function eventOf(round: number): string {
  return JSON.stringify({
    ...{ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash' },
    ...{ tool_use_id: `toolu_${round}`, tool_input: { command: 'ls' } },
  });
}

function said({ times, cpu }: Runs): string {
  return `p50 ${percentile(times, 0.5).toFixed(0)} ms, ${(cpu / times.length).toFixed(0)} ms of CPU`;
}
