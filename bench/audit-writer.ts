import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { AuditEvent } from '../src/actors/ports/audit-event.ts';
import type { LineSigner } from '../src/actors/records/log/line-signer.ts';
import { SqliteStore } from '../src/actors/records/sqlite/sqlite-store.ts';
import { type TaskChange } from '../src/actors/records/store/task-rows.ts';
import { aTask } from '../test/helpers/stored-tasks.ts';
import type { Figure } from './figure.ts';
import { measure, medianOf, percentile } from './load.ts';

const rounds = 3;

/** Events a second through the store, when 64 callers wait for each of theirs to be on disk. */
export async function auditWriterFigures(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, signer] of [
    ['unsigned', null],
    ['signed', ed25519Signer()],
  ] as const) {
    const { perSecond } = await withStore(signer, async (store) => {
      await measure(64, 2_000, () => store.record([anEvent()]));
      const runs = [];
      for (let round = 0; round < rounds; round += 1) {
        runs.push(await measure(64, 20_000, () => store.record([anEvent()])));
      }
      return medianOf(runs);
    });
    figures.push({
      what: `audit events on disk, 64 at once, ${what}`,
      measured: `${Math.round(perSecond).toLocaleString('en')}/s`,
      aim: '',
    });
  }
  return figures;
}

/** What one audit line adds to a save; saves with and without one take turns, one at a time. */
export async function auditedSaveFigures(): Promise<Figure[]> {
  const { plain, audited } = await withStore(ed25519Signer(), saveTimes);
  const added = (share: number) => ms(percentile(audited, share) - percentile(plain, share));
  return [
    {
      what: 'what a signed audit line adds to a save',
      measured: `p50 ${added(0.5)} of ${ms(percentile(audited, 0.5))}, p99 ${added(0.99)} of ${ms(percentile(audited, 0.99))}`,
      aim: '',
    },
  ];
}

/** How late the event loop is while 1,000 signed events a second are written. */
export async function auditLoopFigures(): Promise<Figure[]> {
  const lags: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    lags.push(await withStore(ed25519Signer(), (store) => loopLag(store)));
  }
  return [
    {
      what: 'event loop delay at 1,000 signed audit events/s, p99',
      measured: ms(percentile(lags, 0.5)),
      aim: '20 ms',
    },
  ];
}

async function saveTimes(store: SqliteStore): Promise<{ plain: number[]; audited: number[] }> {
  const times = { plain: [] as number[], audited: [] as number[] };
  for (let number = 0; number < 3_000; number += 1) {
    const isAudited = number % 2 === 1;
    const began = performance.now();
    await store.save(`t-${number}`, () => ({
      change: aChange(`t-${number}`),
      events: isAudited ? [anEvent()] : [],
    }));
    const took = performance.now() - began;
    if (number >= 200) times[isAudited ? 'audited' : 'plain'].push(took);
  }
  return times;
}

/** Writes one event each millisecond of three seconds, together when the loop comes late; in milliseconds. */
async function loopLag(store: SqliteStore): Promise<number> {
  const seconds = 3;
  // The monitor's own timer is part of what it measures, so its period is taken off.
  const period = 1;
  const delay = monitorEventLoopDelay({ resolution: period });
  const writes: Promise<void>[] = [];
  const began = performance.now();
  delay.enable();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(performance.now() - began, seconds * 1_000);
      while (writes.length < due) writes.push(store.record([anEvent()]));
      if (due < seconds * 1_000) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  delay.disable();
  await Promise.all(writes);
  return Math.max(0, delay.percentile(99) / 1e6 - period);
}

async function withStore<Result>(
  signer: LineSigner | null,
  run: (store: SqliteStore) => Promise<Result>,
): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  const store = await SqliteStore.open({
    path: join(directory, 'tasks.db'),
    audit: {
      path: join(directory, 'audit.ndjson'),
      chain: true,
      signer,
      rotation: { maxBytes: 67_108_864, daily: false, keep: 0 },
    },
  });
  try {
    return await run(store);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

function ed25519Signer(): LineSigner {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { kid: 'bench', sign: (bytes) => sign(null, bytes, privateKey).toString('base64') };
}

function anEvent(): AuditEvent {
  return {
    event: 'tool_exec',
    ts: '2026-07-01T09:00:00.000Z',
    seq: 7,
    task_id: '019b1f2e-6c4a-7cc1-8f3a-0d7e5b6a1c2d',
    correlation_id: '019b1f2e-6c4a-7cc1-8f3a-0d7e5b6a1c2e',
    entity_id: 'refunds',
    entity_type: 'agent',
    fields: {
      tool: 'issue_refund',
      phase: 'end',
      args_size: 64,
      duration_ms: 12,
      result_size: 220,
    },
  };
}

function aChange(id: string): TaskChange {
  const task = aTask({ id, contextId: id });
  const snapshot = { value: 'working' };
  return { task, expected: 0, snapshot, machineVersion: 1, auditSeq: 1, startedCall: null };
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(2)} ms`;
}
