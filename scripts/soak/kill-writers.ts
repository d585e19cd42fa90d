import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { GENESIS } from '../../src/actors/records/log/audit.ts';
import { logFilesOf } from '../../src/actors/records/log/log-files.ts';
import { type Standing, type Told, whatIsWrong } from './log-of-soak.ts';

/** How hard a soak tries. */
export interface SoakOptions {
  kills: number;
  /** Milliseconds after which no further writer is started. */
  limit: number;
  /** Receives the number of each kill, from 1. */
  onKill?: (number: number) => void;
}

/** What a soak came to. */
export interface SoakReport {
  kills: number;
  /** Changes of tasks that were reported to be on disk. */
  kept: number;
  files: number;
  seconds: number;
  /** What was wrong, one sentence each; the soak ends with the first. */
  wrong: string[];
}

/** The longest a writer lives, in milliseconds after its first commit. */
const longestLife = 60;

/** A writer that has not come to its step by then is killed all the same. */
const patience = 5_000;

/** Steps of the disk within which a writer that kills itself does so. */
const furthestStep = 120;

/**
 * Kills one writer after the other on the same store, every other one at a random step of the disk and
 * the rest at a random moment, and looks at what is left after each.
 */
export async function killWriters({ kills, limit, onKill }: SoakOptions): Promise<SoakReport> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-soak-'));
  const told: Told = new Map();
  const standing: Standing = { files: 0, head: GENESIS, written: new Map() };
  const began = performance.now();
  let done = 0;
  let wrong: string[] = [];
  try {
    while (done < kills && wrong.length === 0 && performance.now() - began < limit) {
      await killOne(directory, done, told);
      wrong = await whatIsWrong(directory, told, standing);
      done += 1;
      onKill?.(done);
    }
    const kept = [...told.values()].reduce((sum, revision) => sum + revision, 0);
    const files = logFilesOf(join(directory, 'audit.ndjson')).length;
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    return { kills: done, kept, files, seconds, wrong };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function killOne(directory: string, life: number, told: Told): Promise<void> {
  const step = life % 2 === 0 ? 0 : 1 + Math.floor(Math.random() * furthestStep);
  const script = join(import.meta.dirname, 'writer.ts');
  const flags = ['--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, script, directory, `${life}`, `${step}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  const overdue = setTimeout(kill, patience);
  let isHeard = false;
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    const [what, id] = line.split(' ') as [string, string];
    told.set(id, what === 'decided' ? 2 : Math.max(1, told.get(id) ?? 0));
    if (!isHeard && step === 0) setTimeout(kill, Math.random() * longestLife);
    isHeard = true;
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(overdue);
  if (signal !== 'SIGKILL') throw new Error(`a writer ended by itself (${signal ?? 'no signal'})`);
}
