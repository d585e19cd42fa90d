import * as z from 'zod';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { WebRecords } from '../../ports/web-records.ts';
import { definition, type SeenTool, type SeenTools, SeenToolsError } from './seen-tools.ts';

export interface SharedPinsPorts {
  records: Pick<WebRecords, 'put' | 'find' | 'list'>;
  seen: SeenTools;
  clock: Clock;
  log: Log;
}

const pinned = z.object({ server: z.string(), name: z.string(), accepted: definition });

type Pin = z.output<typeof pinned>;

/** Time between two looks at the acceptances of other daemons, in milliseconds. */
const lookEvery = 5_000;

const kind = 'mcp_pin';
const owner = 'agent';

/** Id of the record that changes with each acceptance. */
const markId = '';

/**
 * The accepted tools of MCP servers at all daemons over one store: an acceptance at one daemon counts at all, and a daemon
 * in a new folder trusts only what the others have accepted.
 */
export class SharedPins {
  readonly #ports: SharedPinsPorts;
  /** Digests of the accepted versions in the store, by record. */
  readonly #known = new Map<string, string>();
  #mark: string | null = null;
  #timer: unknown = null;
  #publishing = Promise.resolve();
  #isStopped = false;

  constructor(ports: SharedPinsPorts) {
    this.#ports = ports;
  }

  /** Takes over the acceptances in the store. Rejects with the store's error. */
  async load(): Promise<void> {
    const { records } = this.#ports;
    const mark = await records.find(kind, markId);
    const found = (await records.list(kind)).flatMap(({ id, value }) => {
      const { data } = pinned.safeParse(value);
      return id === markId || data === undefined ? [] : [data];
    });
    for (const [server, pins] of Map.groupBy(found, (pin) => pin.server)) {
      for (const pin of pins) this.#known.set(idOf(pin), pin.accepted.sha256);
      this.#adopt(server, pins);
    }
    this.#mark = markOf(mark?.value);
  }

  /** Looks at the acceptances of other daemons until `stop`, and calls `onChanged` after each of them. */
  start(onChanged: () => void): void {
    if (this.#isStopped) return;
    const look = () => this.#look(onChanged).then(() => this.start(onChanged));
    this.#timer = this.#ports.clock.setTimeout(() => void look(), lookEvery);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#ports.clock.clearTimeout(this.#timer);
    await this.#publishing;
  }

  /** Stores the acceptances of a server that were made here. Never rejects. */
  publish(server: string, tools: readonly SeenTool[]): Promise<void> {
    this.#publishing = this.#publishing
      .then(() => this.#publish(server, tools))
      .catch((error: unknown) => {
        const text = 'mcp: accepted tools could not be stored for the other daemons';
        this.#ports.log.error({ error, server }, text);
      });
    return this.#publishing;
  }

  /** While the file cannot be read, no tool counts as accepted. */
  #adopt(server: string, pins: readonly Pin[]): void {
    try {
      this.#ports.seen.adopt(server, pins);
    } catch (error) {
      if (!(error instanceof SeenToolsError)) throw error;
    }
  }

  async #publish(server: string, tools: readonly SeenTool[]): Promise<void> {
    const { records, clock } = this.#ports;
    const pins = tools.flatMap(({ name, accepted }): Pin[] =>
      accepted === null ? [] : [{ server, name, accepted }],
    );
    const news = pins.filter((pin) => this.#known.get(idOf(pin)) !== pin.accepted.sha256);
    if (news.length === 0) return;
    const record = { kind, owner, expiresAt: null } as const;
    for (const pin of news) {
      await records.put({ ...record, id: idOf(pin), value: { ...pin } }, clock.now());
      this.#known.set(idOf(pin), pin.accepted.sha256);
    }
    const mark = news.map(({ accepted }) => accepted.sha256).join(' ');
    await records.put({ ...record, id: markId, value: { mark, at: clock.now() } }, clock.now());
  }

  async #look(onChanged: () => void): Promise<void> {
    try {
      const mark = markOf((await this.#ports.records.find(kind, markId))?.value);
      if (mark === this.#mark) return;
      await this.load();
      onChanged();
    } catch (error) {
      this.#ports.log.error({ error }, 'mcp: accepted tools of other daemons could not be read');
    }
  }
}

function idOf({ server, name }: Pick<Pin, 'server' | 'name'>): string {
  return `${server} ${name}`;
}

function markOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
