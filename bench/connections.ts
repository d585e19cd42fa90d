import { type Dispatcher, Pool } from 'undici';

/** Codes of a connection that its server closed. */
const closed = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** A connection of each send may be one that the server just closed. */
const mostSends = 4;

/**
 * Connections to one server. A request is sent again if its connection was closed before a status came back: a server closes
 * idle connections, and a busy client reads of it late. Each request of the benchmarks may be repeated: it reads, names
 * its task, hold or message, or makes a task that nothing else counts.
 */
export class Connections {
  readonly #pool: Pool;

  constructor(url: string, options: Pool.Options = {}) {
    this.#pool = new Pool(url, options);
  }

  /** Sends a request. Rejects with the error of the last connection if the server closes each one. */
  async request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    for (let sends = 1; ; sends += 1) {
      try {
        return await this.#pool.request(options);
      } catch (error) {
        const isClosed = closed.has((error as { code?: string }).code ?? '');
        if (!isClosed || sends === mostSends) throw error;
      }
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

const known = new Map<string, Connections>();

/** Reads an address as text. */
export async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const { origin, pathname, search } = new URL(url);
  const connections = known.get(origin) ?? new Connections(origin);
  known.set(origin, connections);
  const path = `${pathname}${search}`;
  const { statusCode, body } = await connections.request({ method: 'GET', path, headers });
  return { status: statusCode, text: await body.text() };
}
