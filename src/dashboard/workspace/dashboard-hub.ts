import type { Context } from 'koa';
import type { DashboardEvents } from '../../http/wire/dashboard/dashboard-events.ts';
import type { StreamEvent } from '../../http/wire/event-queue.ts';
import { Problem } from '../../http/wire/problem.ts';
import { EventStream } from '../../http/wire/sse.ts';

/** Maximum number of events kept for reconnecting clients and buffered for slow ones. */
const mostEvents = 1_000;

/**
 * Maximum total characters of these events: half of a client's buffer, so that a reconnecting client can receive them
 * all.
 */
const mostCharacters = 512 * 1024;

/** Maximum characters of one event. Clients fetch longer data themselves. */
const longestEvent = 128 * 1024;

/** Maximum number of concurrent clients; browser tabs share one connection. */
const mostClients = 64;

interface KeptEvent extends StreamEvent {
  number: number;
  size: number;
}

/** Sends every event of the dashboard to every client, including missed events after a reconnection. */
export class DashboardHub {
  /** Event IDs contain the ID of the server run, because each run restarts the count. */
  readonly #run: string;
  readonly #ring: KeptEvent[] = [];
  #characters = 0;
  readonly #clients = new Set<EventStream>();
  #last = 0;

  constructor(run: string) {
    this.#run = run;
  }

  /** The number of connected clients. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Sends an event to every client. An event that is too long makes the clients reload everything. */
  tell<Name extends keyof DashboardEvents>(event: Name, data: DashboardEvents[Name]): void {
    const { length: size } = JSON.stringify(data);
    this.#last += 1;
    const [number, id] = [this.#last, this.#idOf(this.#last)];
    const isLong = size > longestEvent;
    const sent = isLong ? { id, event: 'reset', data: {} } : { id, event, data };
    this.#keep({ ...sent, number, size: isLong ? 0 : size });
    for (const client of this.#clients) client.send(sent);
  }

  /**
   * Answers a request with the event stream, starting after `Last-Event-ID`. If that ID is unknown, sends `reset` first
   * so that the client reloads everything. Throws a 503 Problem if too many clients are connected.
   */
  serve(ctx: Context): void {
    if (this.#clients.size >= mostClients) {
      const error = `${mostClients} clients listen already; close some`;
      throw new Problem('too_many_clients', error, {}, { 'Retry-After': '5' });
    }
    const missed = this.#missedBy(ctx.get('Last-Event-ID'));
    const client: EventStream = new EventStream(
      ctx,
      () => this.#clients.delete(client),
      mostEvents,
    );
    this.#clients.add(client);
    if (missed === null) client.send({ id: this.#idOf(this.#last), event: 'reset', data: {} });
    else for (const event of missed) client.send(event);
  }

  /** Ends every stream. */
  close(): void {
    for (const client of this.#clients) client.end();
    this.#clients.clear();
  }

  #keep(event: KeptEvent): void {
    this.#ring.push(event);
    this.#characters += event.size;
    while (this.#ring.length > mostEvents || this.#characters > mostCharacters) {
      this.#characters -= this.#ring.shift()?.size ?? 0;
    }
  }

  #idOf(number: number): string {
    return `${this.#run}.${number}`;
  }

  #missedBy(lastEventId: string): StreamEvent[] | null {
    const [run = '', text = ''] = lastEventId.split('.');
    const seen = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (run !== this.#run || !(seen <= this.#last)) return null;
    const first = this.#ring[0]?.number ?? this.#last + 1;
    if (seen < first - 1) return null;
    return this.#ring.filter(({ number }) => number > seen);
  }
}
