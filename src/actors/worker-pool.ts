import { extname } from 'node:path';
import type { Piscina } from 'piscina';

/** How much of the machine a pool may take; what does not fit in is refused with `Task queue is at limit`. */
export interface PoolLimits {
  /** Workers at once. */
  atOnce: number;
  /** Pieces of work that wait for a worker. */
  waiting: number;
}

/** A function of a module, to be run beside the daemon. */
export interface WorkerJob<Input> {
  /** `import.meta` of the caller; the module lies beside it. */
  beside: ImportMeta;
  /** The module without its ending, and the function that it exports. */
  module: string;
  exported: string;
  /** What can be cloned. */
  input: Input;
  signal: AbortSignal;
}

/** A worker that takes more is ended by the engine, and the daemon goes on. */
const memory = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

/**
 * Workers with bounded memory and an empty environment, started when there is work and ended when there has been none
 * for 30 s. Work rejects with what it throws, and with an AbortError once its signal aborts, which ends its worker.
 */
export class WorkerPool {
  readonly #limits: PoolLimits;
  #workers: Promise<Piscina> | undefined;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  async run<Input>({
    beside,
    module,
    exported,
    input,
    signal,
  }: WorkerJob<Input>): Promise<unknown> {
    this.#workers ??= openWorkers(this.#limits);
    const workers = await this.#workers;
    // The sources run as they stand, and the package as JavaScript.
    const filename = beside.resolve(`${module}${extname(beside.filename)}`);
    return workers.run(input, { filename, name: exported, signal });
  }
}

async function openWorkers({ atOnce, waiting }: PoolLimits): Promise<Piscina> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    ...{ minThreads: 0, maxThreads: atOnce, maxQueue: waiting },
    ...{ idleTimeout: 30_000, concurrentTasksPerWorker: 1, recordTiming: false },
    ...{ env: {}, resourceLimits: memory },
  });
}
