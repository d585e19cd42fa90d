import { setTimeout as pause } from 'node:timers/promises';
import { Connections } from './connections.ts';

/** Answers of a run: how many a second, and how long each took, in milliseconds. */
export interface Measured {
  perSecond: number;
  p50: number;
  p99: number;
}

const held = [{ tool: 'datetime_now' }, { say: 'it is {result}' }];

/** A client of one daemon with a number of connections. */
export class Load {
  readonly #pool: Connections;
  readonly #headers: Record<string, string>;

  /** `token` signs every call in. */
  constructor(url: string, connections: number, token?: string) {
    this.#headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    this.#pool = new Connections(url, { connections, headersTimeout: 0, bodyTimeout: 0 });
  }

  /** Sends a task that is answered at once. */
  async echo(): Promise<void> {
    await this.#post('/tasks/send', { message: { parts: [{ kind: 'text', text: 'hello' }] } });
  }

  /** Sends a task that is held, and resolves with its answer. */
  hold(id: string, signal?: AbortSignal): Promise<string> {
    const parts = [{ kind: 'data', data: { script: held } }];
    return this.#post('/tasks/send', { id, message: { parts } }, signal);
  }

  /** Releases a held task as soon as it waits; a decision that comes too early is tried again. */
  async approve(id: string): Promise<void> {
    for (;;) {
      const { statusCode, body } = await this.#pool.request({
        method: 'POST',
        path: `/tasks/${id}/decisions`,
        headers: this.#headers,
        body: '{"decision":"approve","approver":"bench"}',
      });
      const text = await body.text();
      if (statusCode === 200) return;
      if (statusCode !== 404) throw new Error(`decision on ${id}: ${statusCode} ${text}`);
    }
  }

  /** Parks a task, releases it as soon as its stream reports the wait, and reads to its answer. */
  async cycle(id: string): Promise<void> {
    const parts = [{ kind: 'data', data: { script: held } }];
    const { body } = await this.#pool.request({
      method: 'POST',
      path: '/tasks/sendSubscribe',
      headers: this.#headers,
      body: JSON.stringify({ id, message: { parts } }),
    });
    let text = '';
    let decision: Promise<void> | null = null;
    for await (const chunk of body) {
      text += String(chunk);
      if (decision === null && text.includes('"deferred"')) decision = this.approve(id);
    }
    await decision;
    if (!text.includes('"completed"')) throw new Error(`${id} did not complete: ${text}`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #post(path: string, body: object, signal?: AbortSignal): Promise<string> {
    const response = await this.#pool.request({
      method: 'POST',
      path,
      headers: this.#headers,
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`);
    return text;
  }
}

/** Runs a job over and over from a number of callers at once, for a number of jobs in all. */
export async function measure(
  callers: number,
  jobs: number,
  job: (index: number) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  let next = 0;
  const began = performance.now();
  const caller = async (): Promise<void> => {
    while (next < jobs) {
      const index = next;
      next += 1;
      const started = performance.now();
      await job(index);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const perSecond = (jobs / (performance.now() - began)) * 1_000;
  return { perSecond, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/**
 * Runs a job for a number of callers, each in its own time: `jobs` times, one each `every` milliseconds. Returns how long
 * each took.
 */
export async function paced(
  { callers, jobs, every }: { callers: number; jobs: number; every: number },
  job: () => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  const caller = async (index: number): Promise<void> => {
    await pause((index * every) / callers);
    for (let made = 0; made < jobs; made += 1) {
      const began = performance.now();
      await job();
      const took = performance.now() - began;
      times.push(took);
      await pause(Math.max(0, every - took));
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index)));
  return times;
}

/** Returns the value below which a share of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns the run whose rate is the median. */
export function medianOf(runs: readonly Measured[]): Measured {
  const sorted = runs.toSorted((one, other) => one.perSecond - other.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}
