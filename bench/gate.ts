import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connections, get } from './connections.ts';
import { startDaemon } from './daemon.ts';
import { type Figure, mebibytes, spread } from './figure.ts';
import { holdsInProcess } from './in-process.ts';
import { measure, medianOf, paced, percentile } from './load.ts';
import { fillSqlite } from './parked-rows.ts';
import { allAtRest } from './scenarios.ts';

const service = `agent_id: bench
gate: {tools: {Bash: {}}}
server:
  rate_limit: {read_rps: 1000000, read_burst: 1000000, write_rps: 1000000, write_burst: 1000000}
security:
  defer:
    enabled: true
    max_pending_per_caller: 100000
    tools:
      Bash:
        - {when: 'args.command == "ls"', allow: true}
        - {to: "channel:dashboard:*", timeout: 24h}
`;

/** Calls of other programs over HTTP: allowed at once, and held, approved, released and closed. */
export async function gateFigures(): Promise<Figure[]> {
  const { gate, close } = await openGate();
  try {
    await measure(16, 1_000, () => gate.ask('ls').then(() => undefined));
    return [
      ...(await allowed(gate)),
      await pacedCalls(gate),
      ...(await held(gate)),
      await holdsInProcess(),
    ];
  } finally {
    await close();
  }
}

/** Starts a gate and a program with calls to ask for. */
export async function openGate() {
  const directory = makeGateFolder();
  const daemon = await startDaemon(directory);
  const gate = new Gate(daemon.url, 100);
  return {
    gate,
    directory,
    pid: daemon.pid,
    async close() {
      await gate.close();
      await daemon.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Heap of each call that waits at a gate, and the start of a gate over many of them after a kill. */
export async function waitingHoldFigures(asked: number, waiting: number): Promise<Figure[]> {
  const directory = makeGateFolder();
  try {
    const first = await startDaemon(directory);
    const gate = new Gate(first.url, 64);
    await measure(16, 1_000, () => gate.ask('ls').then(() => undefined));
    await allAtRest(first);
    const before = await first.memory();
    const ids: string[] = [];
    await measure(64, asked, async () => void ids.push(await gate.ask('rm -rf build')));
    await allAtRest(first);
    const after = await first.memory();
    await gate.close();
    await first.stop();
    fillSqlite(join(directory, '.service/tasks.db'), waiting - asked, ids[0]);
    const starts: number[] = [];
    let daemon = await startDaemon(directory);
    for (let round = 0; round < 3; round += 1) {
      process.kill(daemon.pid, 'SIGKILL');
      daemon = await startDaemon(directory);
      starts.push(daemon.readyAfter);
    }
    const resumed = await daemon.memory();
    const found = await firstAnswers(daemon.url, ids);
    await daemon.stop();
    const all = `${waiting.toLocaleString('en')} waiting holds`;
    const heap = Math.round((after.heap - before.heap) / asked);
    return [
      {
        what: `heap of a waiting hold, ${asked.toLocaleString('en')} of them`,
        measured: `${heap} B`,
        aim: '1 KB',
      },
      {
        what: `${all}: process start to ready after kill -9`,
        measured: `${Math.round(percentile(starts, 0.5))} ms`,
        aim: '1 s',
      },
      {
        what: `${all}: heap, resident after the start`,
        measured: `${mebibytes(resumed.heap)}, ${mebibytes(resumed.resident)}`,
        aim: '',
      },
      { what: `${all}: ask again for one of them`, measured: spread(found), aim: '' },
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds in which a program finds its hold again. */
async function firstAnswers(url: string, ids: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < 200; index += 1) {
    const id = ids[index * Math.floor(ids.length / 200)] ?? '';
    const began = performance.now();
    const { status } = await get(`${url}/holds/${id}`);
    if (status !== 202) throw new Error(`GET /holds/${id}: ${status}`);
    times.push(performance.now() - began);
  }
  return times;
}

function makeGateFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  writeFileSync(join(directory, 'service.yaml'), service);
  return directory;
}

async function allowed(gate: Gate): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const callers of [1, 16]) {
    const times: number[] = [];
    const { perSecond } = await measure(callers, callers * 500, async () => {
      const began = performance.now();
      await gate.ask('ls');
      times.push(performance.now() - began);
    });
    figures.push({
      what: `an allowed call of another program, ${callers} at once`,
      measured: `${spread(times)}, ${Math.round(perSecond)}/s`,
      aim: 'p50 5 ms, p99 20 ms',
    });
  }
  return figures;
}

/** 100 programs that each make four calls a second, as agents that work between their calls do. */
async function pacedCalls(gate: Gate): Promise<Figure> {
  const times = await paced({ callers: 100, jobs: 20, every: 250 }, () => gate.ask('ls'));
  return {
    what: 'an allowed call of one of 100 programs, 400 calls/s in all',
    measured: spread(times),
    aim: 'p50 5 ms, p99 20 ms',
  };
}

async function held(gate: Gate): Promise<Figure[]> {
  const decide = async (): Promise<void> => void (await gate.decide());
  const stories: [what: string, run: () => Promise<void>, aim: string][] = [
    ['hold → approve, 64 at once', decide, '1,000/s'],
    ['hold → approve → release → outcome, 64 at once', () => gate.cycle(), ''],
  ];
  const figures: Figure[] = [];
  for (const [what, run, aim] of stories) {
    const runs = [];
    for (let round = 0; round < 3; round += 1) runs.push(await measure(64, 3_000, run));
    figures.push({ what, measured: `${Math.round(medianOf(runs).perSecond)}/s`, aim });
  }
  return figures;
}

/** A program with calls to ask for. */
class Gate {
  readonly #pool: Connections;
  #asked = 0;

  constructor(url: string, connections: number) {
    this.#pool = new Connections(url, { connections });
  }

  async ask(command: string): Promise<string> {
    this.#asked += 1;
    const body = { key: `k${this.#asked}`, tool: 'Bash', args: { command } };
    const { hold_id } = await this.#send('POST', '/holds', body);
    return hold_id;
  }

  async decide(): Promise<string> {
    const id = await this.ask('rm -rf build');
    await this.#send('POST', `/holds/${id}/decisions`, { decision: 'approve' });
    return id;
  }

  async cycle(): Promise<void> {
    const id = await this.decide();
    const { status } = await this.#send('GET', `/holds/${id}`);
    if (status !== 'approved') throw new Error(`hold ${id} is ${status}`);
    await this.#send('POST', `/holds/${id}/outcome`, { status: 'succeeded' });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<{ hold_id: string; status: string }> {
    const answer = await this.#pool.request({
      ...{ method, path, headers: { 'content-type': 'application/json' } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.statusCode > 202) throw new Error(`${method} ${path}: ${answer.statusCode}`);
    return (await answer.body.json()) as { hold_id: string; status: string };
  }
}
