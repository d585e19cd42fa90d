import type { Context } from 'koa';
import type { DashboardEvents } from '../wire/dashboard/dashboard-events.ts';
import { Problem } from '../wire/problem.ts';
import { EventStream, type StreamEvent } from '../wire/sse.ts';

/** Events that a client can catch up on, and that may wait for one that reads slowly. */
const mostEvents = 1_000;

/** Characters of these events: half of what may wait for a client, so that one that comes back can take them in. */
const mostCharacters = 512 * 1024;

/** Characters of one event. What is longer, clients read by themselves. */
const longestEvent = 128 * 1024;

/** Clients at once: browsers share one among their tabs. */
const mostClients = 64;

interface KeptEvent extends StreamEvent {
  number: number;
  size: number;
}

/** Sends every event of the dashboard to every client, and what a client has missed when it comes back. */
export class DashboardHub {
  /** Another run of the server counts anew, so its ids say which run they are of. */
  readonly #run: string;
  readonly #ring: KeptEvent[] = [];
  #characters = 0;
  readonly #clients = new Set<EventStream>();
  #last = 0;

  constructor(run: string) {
    this.#run = run;
  }

  /** How many listen. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Tells every client; what is too long to be told makes them read everything anew. */
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
   * Answers a request with the stream of events, from the one after `Last-Event-ID` on; with `reset` first when that is
   * not known, so that the client reads everything anew. Throws a 503 Problem when too many listen.
   */
  serve(ctx: Context): void {
    if (this.#clients.size >= mostClients) {
      const error = `${mostClients} clients listen already; close some`;
      throw new Problem(503, { error }, { 'Retry-After': '5' });
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
