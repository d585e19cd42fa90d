import { LRUCache } from 'lru-cache';
import { type Embedder, EmbedderError } from './embedder.ts';

/** A running request with its waiting callers. */
interface Flight {
  texts: string[];
  vectors: Promise<Map<string, number[]>>;
  waiting: number;
  controller: AbortController;
}

/**
 * Caches the vectors of the last `max` texts and shares a running request among callers for the same text. Failures are
 * not cached. A request runs as long as any caller waits for it, so one caller's abort affects no other.
 */
export function createCachingEmbedder(embedder: Embedder, { max }: { max: number }): Embedder {
  const known = new LRUCache<string, number[]>({ max });
  const flights = new Map<string, Flight>();

  const land = (flight: Flight): void => {
    for (const text of flight.texts) flights.delete(text);
  };

  const start = (texts: string[]): Flight => {
    const controller = new AbortController();
    const vectors = fly(embedder, texts, controller.signal).then((landed) => {
      for (const [text, vector] of landed) known.set(text, vector);
      return landed;
    });
    const flight: Flight = { texts, vectors, waiting: 0, controller };
    for (const text of texts) flights.set(text, flight);
    return flight;
  };

  const wait = async (flight: Flight, signal: AbortSignal): Promise<Map<string, number[]>> => {
    flight.waiting += 1;
    try {
      return await abortable(flight.vectors, signal);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) {
        // Ended or abandoned: no further caller may join.
        land(flight);
        flight.controller.abort();
      }
    }
  };

  return {
    async embed(texts, signal) {
      signal.throwIfAborted();
      const found = new Map<string, number[]>();
      const joined = new Set<Flight>();
      const missing: string[] = [];
      for (const text of new Set(texts)) {
        const vector = known.get(text);
        const flight = flights.get(text);
        if (vector !== undefined) found.set(text, vector);
        else if (flight !== undefined) joined.add(flight);
        else missing.push(text);
      }
      if (missing.length > 0) joined.add(start(missing));
      const landed = await Promise.all([...joined].map((flight) => wait(flight, signal)));
      for (const vectors of landed) for (const [text, vector] of vectors) found.set(text, vector);
      return texts.map((text) => found.get(text) ?? []);
    },
  };
}

async function fly(
  embedder: Embedder,
  texts: string[],
  signal: AbortSignal,
): Promise<Map<string, number[]>> {
  const vectors = await embedder.embed(texts, signal);
  if (vectors.length !== texts.length) {
    throw new EmbedderError(
      'bad_answer',
      'the embedder did not answer with one vector for each text',
    );
  }
  return new Map(texts.map((text, index) => [text, vectors[index] ?? []]));
}

/** Awaits a promise until the signal aborts, then rejects with its reason. */
async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
