import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentFolder, type ServiceSettings } from '../../test/helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../../test/helpers/agent-process.ts';
import { refundBounds } from '../../test/helpers/limited-refunds.ts';
import { PostgresServer } from '../../test/helpers/postgres-server.ts';
import { People, peopleSecret } from './people.ts';

/** Which database the daemons of a cluster are over. */
export type StoreKind = 'postgres' | 'sqlite';

export interface ClusterOptions {
  store: StoreKind;
  onRestart: 'abandon' | 'resume';
  /** A gate keeps its waiting calls at a restart, regardless of `onRestart`. */
  kind?: 'agent' | 'gate';
}

/** Exact points at which a daemon can be killed, in addition to random moments. */
export const killPoints = [
  'before-commit',
  'in-commit',
  'after-commit',
  'half-line',
  'before-sync',
] as const;

export type KillPoint = (typeof killPoints)[number];

/** What has a daemon end at such a point. */
const preloaded = new URL('kill-points.ts', import.meta.url).href;

/** The daemons of one agent: three over a PostgreSQL, or one over its file. */
export class Cluster {
  readonly server: PostgresServer | null;
  /** The name of the database; empty for a file. */
  readonly database: string;
  readonly folders: readonly AgentFolder[];
  /** The receivers of messages about waiting calls and changed tasks. */
  readonly people: People;
  /** What daemons said that ended and were not to. */
  readonly fallen: string[] = [];
  readonly #running: (AgentProcess | null)[] = [];
  readonly #kills: (() => Promise<void>)[] = [];

  private constructor(
    server: PostgresServer | null,
    database: string,
    folders: readonly AgentFolder[],
    people: People,
  ) {
    this.people = people;
    this.server = server;
    this.database = database;
    this.folders = folders;
  }

  /** Starts the daemons. */
  static async start({ store, onRestart, kind }: ClusterOptions): Promise<Cluster> {
    const server = store === 'postgres' ? await PostgresServer.start({ fsync: true }) : null;
    const database = (await server?.createDatabase()) ?? '';
    const people = await People.open();
    const settings = settingsOf(store, kind === 'gate' ? null : onRestart);
    const count = server === null ? 1 : 3;
    const folders = Array.from({ length: count }, () => new AgentFolder(settings));
    for (const { path } of folders) people.introduceTo(path);
    const cluster = new Cluster(server, database, folders, people);
    for (const index of folders.keys()) await cluster.launch(index);
    return cluster;
  }

  /** The daemons that run. */
  get alive(): AgentProcess[] {
    return this.#running.filter((agent) => agent !== null);
  }

  /** Returns the daemon of a number, from 0; `undefined` while it does not run. */
  at(index: number): AgentProcess | undefined {
    return this.#running[index] ?? undefined;
  }

  /** Starts a daemon, or starts it again. */
  async launch(index: number): Promise<AgentProcess> {
    const folder = this.folders[index] as AgentFolder;
    const own = {
      ...(this.server === null ? {} : { SERVICE_DATABASE_URL: this.server.url(this.database) }),
      ...peopleSecret,
      HOLDPOINT_KILL_FILE: this.#orderFor(index),
    };
    const later = (kill: () => Promise<void>) => void this.#kills.push(kill);
    const agent = await launchAgentProcess(folder, later, [], ['--import', preloaded], own);
    this.#running[index] = agent;
    void agent.ended().then((how) => {
      if (this.#running[index] !== agent) return;
      this.fallen.push(
        `daemon ${index} ended by itself (${how}): ${agent.complaints.slice(-2_000)}`,
      );
      this.#running[index] = null;
    });
    return agent;
  }

  /** Ends a daemon at once, as a power cut would. */
  async kill(index: number): Promise<void> {
    const agent = this.#running[index];
    this.#running[index] = null;
    await agent?.kill();
  }

  /** Has a daemon end when it comes to a point; one that does not come there within two seconds is killed where it is. */
  async killAt(index: number, point: KillPoint): Promise<void> {
    const agent = this.#running[index];
    this.#running[index] = null;
    const order = this.#orderFor(index);
    writeFileSync(order, point);
    const late = setTimeout(() => agent?.signal('SIGKILL'), 2_000);
    await agent?.ended();
    clearTimeout(late);
    rmSync(order, { force: true });
  }

  #orderFor(index: number): string {
    return join(this.folders[index]?.path ?? '', 'kill-at');
  }

  /** The ids of the calls that ran, at whichever daemon, in the order of each. */
  get paid(): string[] {
    return this.folders.flatMap((folder) => folder.paid);
  }

  /** Ends everything and removes it. */
  async close(): Promise<void> {
    this.#running.fill(null);
    for (const kill of this.#kills) await kill();
    await this.server?.remove();
    await this.people.close();
    for (const folder of this.folders) folder.remove();
  }
}

/** @param onRestart `null` for a gate */
function settingsOf(store: StoreKind, onRestart: 'abandon' | 'resume' | null): ServiceSettings {
  const isGate = onRestart === null;
  const pay = { to: 'channel:webhook:desk', timeout: '10m', edit: true };
  const more = isGate ? { max_pending_per_caller: 10_000 } : { on_restart: onRestart };
  return {
    channels: ['webhook'],
    security: { defer: { enabled: true, ...more, tools: { pay } }, ...refundBounds('grant') },
    ...(isGate ? { gate: { tools: { pay: {}, echo: {}, grant: {} } } } : {}),
    store: { kind: store },
    egress: { allowed_domains: ['127.0.0.1'], allow_private_ips: true },
  };
}
