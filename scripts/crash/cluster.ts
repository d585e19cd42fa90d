import { AgentFolder, type ServiceSettings } from '../../test/helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../../test/helpers/agent-process.ts';
import { PostgresServer } from '../../test/helpers/postgres-server.ts';

/** Which database the daemons of a cluster are over. */
export type StoreKind = 'postgres' | 'sqlite';

export interface ClusterOptions {
  store: StoreKind;
  onRestart: 'abandon' | 'resume';
}

/** The daemons of one agent: three over a PostgreSQL, or one over its file. */
export class Cluster {
  readonly server: PostgresServer | null;
  /** The name of the database; empty for a file. */
  readonly database: string;
  readonly folders: readonly AgentFolder[];
  /** What daemons said that ended and were not to. */
  readonly fallen: string[] = [];
  readonly #running: (AgentProcess | null)[] = [];
  readonly #kills: (() => Promise<void>)[] = [];

  private constructor(
    server: PostgresServer | null,
    database: string,
    folders: readonly AgentFolder[],
  ) {
    this.server = server;
    this.database = database;
    this.folders = folders;
  }

  /** Starts the daemons. */
  static async start({ store, onRestart }: ClusterOptions): Promise<Cluster> {
    const server = store === 'postgres' ? await PostgresServer.start({ fsync: true }) : null;
    const database = (await server?.createDatabase()) ?? '';
    const settings = settingsOf(store, onRestart);
    const count = server === null ? 1 : 3;
    const folders = Array.from({ length: count }, () => new AgentFolder(settings));
    const cluster = new Cluster(server, database, folders);
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
    const own =
      this.server === null ? {} : { SERVICE_DATABASE_URL: this.server.url(this.database) };
    const later = (kill: () => Promise<void>) => void this.#kills.push(kill);
    const agent = await launchAgentProcess(folder, later, [], [], own);
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

  /** The ids of the calls that ran, at whichever daemon, in the order of each. */
  get paid(): string[] {
    return this.folders.flatMap((folder) => folder.paid);
  }

  /** Ends everything and removes it. */
  async close(): Promise<void> {
    this.#running.fill(null);
    for (const kill of this.#kills) await kill();
    await this.server?.remove();
    for (const folder of this.folders) folder.remove();
  }
}

function settingsOf(store: StoreKind, onRestart: 'abandon' | 'resume'): ServiceSettings {
  const pay = { to: 'channel:dashboard:desk', timeout: '10m' };
  return {
    security: { defer: { enabled: true, on_restart: onRestart, tools: { pay } } },
    store: { kind: store },
  };
}
