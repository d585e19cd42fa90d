import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { AgentDescription } from './agent-description.ts';
import type { AgentCommand } from './launch-agent.ts';
import { scanFolders } from './scan-folders.ts';
import { watchWorkspace } from './watch-workspace.ts';
import { type AgentListener, WorkspaceAgent } from './workspace-agent.ts';

/** Interval in milliseconds at which agents' processes are checked: a process may end without notice. */
const lookEvery = 2_000;

/** Time during which file changes are batched, in milliseconds. */
const gathering = 100;

/** Receives the events of a workspace. */
export interface WorkspaceListener extends AgentListener {
  onCreated: (agent: WorkspaceAgent) => void;
  onRemoved: (id: string) => void;
}

export interface WorkspaceOptions extends WorkspaceListener {
  directory: string;
  command: AgentCommand;
  /** Reads the files of an agent. Never rejects. */
  describe: (directory: string) => Promise<AgentDescription>;
  clock: Clock;
  log: Log;
}

/** Opens a workspace, which contains no agents until `begin` is called. Rejects if the folder does not exist. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  return new Workspace({ ...options, directory: await realpath(options.directory) });
}

/** The agents of a folder and its direct subfolders, as determined from their folders and processes. */
export class Workspace {
  readonly directory: string;
  readonly #options: WorkspaceOptions;
  readonly #agents = new Map<string, WorkspaceAgent>();
  readonly #known = Promise.withResolvers<void>();
  #beginning: Promise<void> | null = null;
  #scanning: Promise<void> = Promise.resolve();
  #unwatch: (() => Promise<void>) | null = null;
  #looking: NodeJS.Timeout | null = null;
  #gathered: { timer: NodeJS.Timeout; isDescription: boolean } | null = null;
  #isClosed = false;

  constructor(options: WorkspaceOptions) {
    this.directory = options.directory;
    this.#options = options;
  }

  /** Scans for agents and watches for changes until the workspace is closed. */
  begin(): void {
    this.#beginning ??= this.#begin();
  }

  /** Resolves once the first scan is complete. Never rejects. */
  known(): Promise<void> {
    return this.#known.promise;
  }

  /** Returns the agents, sorted by id. */
  agents(): WorkspaceAgent[] {
    return [...this.#agents.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  find(id: string): WorkspaceAgent | undefined {
    return this.agents().find((agent) => agent.id === id);
  }

  /** Scans for agents, and reads their files and process states. */
  rescan(): Promise<void> {
    this.#scanning = this.#scanning.then(() => this.#scan(true));
    return this.#scanning;
  }

  /** Disconnects from every agent; running agents continue. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#known.resolve();
    await this.#beginning;
    if (this.#looking !== null) clearInterval(this.#looking);
    if (this.#gathered !== null) clearTimeout(this.#gathered.timer);
    await this.#unwatch?.();
    await this.#scanning;
    await Promise.all(this.agents().map((agent) => agent.close()));
  }

  async #begin(): Promise<void> {
    const { log } = this.#options;
    const change = ({ isDescription }: { isDescription: boolean }) => this.#gather(isDescription);
    try {
      // Watching starts before the first scan, so no change is missed.
      this.#unwatch = await watchWorkspace(this.directory, change, log);
    } catch (error) {
      log.error({ error }, 'workspace: folders are not watched; rescan to see what changed');
    }
    await this.rescan();
    this.#looking = setInterval(() => this.#gather(false), lookEvery);
    this.#looking.unref();
    this.#known.resolve();
  }

  #gather(isDescription: boolean): void {
    if (this.#isClosed) return;
    if (this.#gathered !== null) {
      this.#gathered.isDescription ||= isDescription;
      return;
    }
    const run = (): void => {
      const { isDescription: isAll = false } = this.#gathered ?? {};
      this.#gathered = null;
      this.#scanning = this.#scanning.then(() => this.#scan(isAll));
    };
    this.#gathered = { timer: setTimeout(run, gathering), isDescription };
  }

  async #scan(isAll: boolean): Promise<void> {
    if (this.#isClosed) return;
    try {
      if (isAll) await this.#readFolders();
      await Promise.all(this.agents().map((agent) => agent.look()));
    } catch (error) {
      this.#options.log.error({ error }, 'workspace: the agents could not be read');
    }
  }

  async #readFolders(): Promise<void> {
    const { describe, onCreated, onRemoved, onChange } = this.#options;
    const folders = await scanFolders(this.directory);
    for (const [folder, agent] of this.#agents) {
      if (folders.includes(folder)) continue;
      this.#agents.delete(folder);
      await agent.close();
      onRemoved(agent.id);
    }
    // Existing ids are kept, so that a new folder never receives requests meant for another one.
    const ids = new Set(this.agents().map(({ id }) => id));
    for (const folder of folders) {
      if (this.#isClosed) return;
      const description = await describe(folder);
      const known = this.#agents.get(folder);
      const wanted = description.agentId ?? basename(folder);
      const isKept = known !== undefined && isFor(known.id, wanted);
      if (known !== undefined && !isKept) ids.delete(known.id);
      const id = isKept ? known.id : freeId(wanted, ids);
      ids.add(id);
      if (known === undefined) {
        // No change is reported before the agent itself has been.
        const tell = (changed: WorkspaceAgent) => this.#agents.has(folder) && onChange(changed);
        const options = { ...this.#options, onChange: tell };
        const agent = new WorkspaceAgent({ ...options, directory: folder, id, description });
        await agent.look();
        this.#agents.set(folder, agent);
        onCreated(agent);
        continue;
      }
      const before = JSON.stringify([known.id, known.description]);
      if (known.id !== id) onRemoved(known.id);
      Object.assign(known, { id, description });
      if (before !== JSON.stringify([id, description])) onChange(known);
    }
  }
}

/** Returns a unique id: the dashboard uses it in URLs, so two agents must not share one. */
function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = baseOf(wanted);
  let id = base;
  for (let number = 2; taken.has(id); number += 1) id = `${base}-${number}`;
  return id;
}

/** Returns whether `freeId` could have returned an id for a wanted name. */
function isFor(id: string, wanted: string): boolean {
  const base = baseOf(wanted);
  return id === base || (id.startsWith(`${base}-`) && /^\d+$/.test(id.slice(base.length + 1)));
}

function baseOf(wanted: string): string {
  const words = wanted.toLowerCase().match(/[a-z0-9]+/g) ?? ['agent'];
  return words.join('-').slice(0, 56).replace(/-$/, '');
}
