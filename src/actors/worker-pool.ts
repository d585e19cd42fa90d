import { extname } from 'node:path';
import type { Piscina } from 'piscina';

/** Limits of a pool; excess work is refused with `Task queue is at limit`. */
export interface PoolLimits {
  /** Maximum concurrent workers. */
  atOnce: number;
  /** Maximum queued jobs. */
  waiting: number;
}

/** A module's function to run in a worker. */
export interface WorkerJob<Input> {
  /** `import.meta` of the caller, in whose folder the module is. */
  from: ImportMeta;
  /** Module name without extension; its exported function is below. */
  module: string;
  exported: string;
  /** Must be cloneable. */
  input: Input;
  signal: AbortSignal;
}

/** V8 kills a worker that exceeds these limits; the daemon is unaffected. */
const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/**
 * Workers with limited memory and an empty environment, started on demand and ended after 30 s without work. A job
 * rejects with its own error, and with an AbortError once its signal aborts, which ends its worker.
 */
export class WorkerPool {
  readonly #limits: PoolLimits;
  #workers: Promise<Piscina> | undefined;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  async run<Input>({ from, module, exported, input, signal }: WorkerJob<Input>): Promise<unknown> {
    this.#workers ??= openWorkers(this.#limits);
    const workers = await this.#workers;
    // Modules are TypeScript in the sources and JavaScript in the package.
    const filename = from.resolve(`${module}${extname(from.filename)}`);
    return workers.run(input, { filename, name: exported, signal });
  }
}

async function openWorkers({ atOnce, waiting }: PoolLimits): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  const workers = new Piscina({
    minThreads: 0,
    maxThreads: atOnce,
    maxQueue: waiting,
    idleTimeout: 30_000,
    concurrentTasksPerWorker: 1,
    recordTiming: false,
    env: {},
    resourceLimits: memory,
  });
  // A worker may run out of memory after its job was aborted. Without a listener that would end the daemon.
  return workers.on('error', () => undefined);
}
