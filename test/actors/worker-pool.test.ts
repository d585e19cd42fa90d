import { Piscina } from 'piscina';
import { expect, it, vi } from 'vitest';
import { WorkerPool } from '../../src/actors/worker-pool.ts';

it('a worker that fails after its job has ended does not break the pool', async () => {
  const run = vi.spyOn(Piscina.prototype, 'run');
  const pool = new WorkerPool({ atOnce: 1, waiting: 1 });
  const { signal } = new AbortController();
  const job = {
    from: import.meta,
    module: './worker-job',
    exported: 'workerJob',
    input: 2,
    signal,
  };
  expect(await pool.run(job)).toBe(4);
  const [workers] = run.mock.contexts as unknown as Piscina[];
  run.mockRestore();
  expect(workers?.emit('error', new Error('the worker ran out of memory'))).toBe(true);
  await workers?.destroy();
});
