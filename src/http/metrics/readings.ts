import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';

/** One value of a metric. */
export interface Sample {
  labels?: Record<string, string>;
  value: number;
}

/** A metric whose values are read at each scrape. */
export interface ReadMetric {
  name: string;
  help: string;
  labelNames?: readonly string[];
  read: () => Promise<readonly Sample[]> | readonly Sample[];
}

/** Milliseconds after which a scrape continues without a value that cannot be read, such as one of the database. */
const patience = 2_000;

/** Metrics that are read at each scrape. A value that cannot be read is absent from the scrape. */
export class Readings {
  readonly #registry: Registry;
  readonly #clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly #log: Log;
  /** Names of the metrics that are read. */
  readonly names: string[] = [];
  readonly #failures: Counter;
  #hasFailed = false;

  constructor(registry: Registry, { clock, log }: { clock: Clock; log: Log }) {
    this.#registry = registry;
    this.#clock = clock;
    this.#log = log;
    this.#failures = new Counter({
      name: 'holdpoint_metrics_unread_total',
      help: 'Metrics that were omitted from a scrape because their values could not be read.',
      registers: [registry],
    });
  }

  /** Adds a gauge. */
  gauge(metric: ReadMetric): void {
    new Gauge(
      this.#settings<Gauge>(metric, (gauge, { labels = {}, value }) => gauge.set(labels, value)),
    );
  }

  /** Adds a counter whose total is kept elsewhere. */
  counter(metric: ReadMetric): void {
    new Counter(
      this.#settings<Counter>(metric, (counter, { labels = {}, value }) =>
        counter.inc(labels, value),
      ),
    );
  }

  #settings<Kind extends Gauge | Counter>(
    { labelNames = [], read, ...rest }: ReadMetric,
    put: (metric: Kind, sample: Sample) => void,
  ) {
    this.names.push(rest.name);
    const values = async (): Promise<readonly Sample[]> => this.#values(rest.name, read);
    return {
      ...rest,
      labelNames: [...labelNames],
      registers: [this.#registry],
      async collect(this: Kind) {
        const samples = await values();
        if (labelNames.length > 0) this.reset();
        else this.remove({});
        for (const sample of samples) put(this, sample);
      },
    };
  }

  async #values(name: string, read: ReadMetric['read']): Promise<readonly Sample[]> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = this.#clock.setTimeout(() => reject(new Error('not read in time')), patience);
    try {
      return await Promise.race([read(), late]);
    } catch (error) {
      this.#failures.inc();
      if (!this.#hasFailed) this.#log.warn({ error, metric: name }, 'metrics: a value is unknown');
      this.#hasFailed = true;
      return [];
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }
}

/** Shares one read among the metrics of a scrape. */
export function sharedRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null;
  return () =>
    (reading ??= read().finally(() => {
      reading = null;
    }));
}
