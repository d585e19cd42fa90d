import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { startDaemon } from './daemon.ts';
import { type Figure, spread } from './figure.ts';
import { measure, medianOf } from './load.ts';

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
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  writeFileSync(join(directory, 'service.yaml'), service);
  const daemon = await startDaemon(directory);
  const gate = new Gate(daemon.url, 64);
  try {
    await measure(16, 1_000, () => gate.ask('ls').then(() => undefined));
    return [...(await allowed(gate)), await cycles(gate)];
  } finally {
    await gate.close();
    await daemon.stop();
    rmSync(directory, { recursive: true, force: true });
  }
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

async function cycles(gate: Gate): Promise<Figure> {
  const runs = [];
  for (let round = 0; round < 3; round += 1) {
    runs.push(await measure(64, 3_000, () => gate.cycle()));
  }
  return {
    what: 'hold → approve → release → outcome, 64 at once',
    measured: `${Math.round(medianOf(runs).perSecond)}/s`,
    aim: '1,000/s',
  };
}

/** A program with calls to ask for. */
class Gate {
  readonly #pool: Pool;
  #asked = 0;

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections });
  }

  async ask(command: string): Promise<string> {
    this.#asked += 1;
    const body = { key: `k${this.#asked}`, tool: 'Bash', args: { command } };
    const { hold_id } = await this.#send('POST', '/holds', body);
    return hold_id;
  }

  async cycle(): Promise<void> {
    const id = await this.ask('rm -rf build');
    await this.#send('POST', `/holds/${id}/decisions`, { decision: 'approve' });
    const { status } = await this.#send('GET', `/holds/${id}`);
    if (status !== 'approved') throw new Error(`hold ${id} is ${status}`);
    await this.#send('POST', `/holds/${id}/outcome`, { status: 'succeeded' });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
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
