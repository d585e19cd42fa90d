import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import type { Ids } from '../../src/actors/ports/ids.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import type { Tool, ToolRun } from '../../src/actors/ports/tool.ts';
import { ToolError } from '../../src/actors/ports/tool.ts';
import { httpRequest } from '../../src/actors/tools/builtin/http-request.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { Chance } from '../helpers/chance.ts';
import { canary, logPath, SimulatedAgent, type SimulatedKind } from './simulated-agent.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedTeam } from './simulated-team.ts';
import { SimulatedTime } from './simulated-time.ts';

/** One real turn of the event loop; timers are simulated, turns are not. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A tool that ran, as the world outside has seen it. */
export interface ToolSeen {
  taskId: string;
  callId: string;
  tool: string;
  args: JsonObject;
}

/** A machine with a disk, a network, a clock and one agent on it, all of whose chance comes from a seed. */
export class SimulatedWorld {
  readonly chance: Chance;
  readonly time: SimulatedTime;
  readonly disk: SimulatedDisk;
  readonly network: SimulatedNetwork;
  /** What tools did outside, in that order. */
  readonly seen: ToolSeen[] = [];
  /** The lines of the daemon's own log. */
  readonly logged: string[] = [];
  /** How many processes there have been. */
  processes = 0;
  /** The agent; `null` while no process runs. */
  agent: SimulatedAgent | null = null;
  readonly team = new SimulatedTeam();
  #copies = 0;
  readonly #kind: SimulatedKind;
  readonly #root = mkdtempSync(join(tmpdir(), 'holdpoint-simulated-'));

  constructor(seed: number, kind: SimulatedKind) {
    this.#kind = kind;
    this.chance = new Chance(seed);
    this.time = new SimulatedTime(new Chance(seed + 1));
    this.network = new SimulatedNetwork(new Chance(seed + 2));
    this.disk = new SimulatedDisk({ root: this.#root, onKilled: () => this.kill('process') });
    this.disk.install();
    mkdirSync(this.folder);
  }

  /** The folder of the process that runs, or ran last. */
  get folder(): string {
    return join(this.#root, String(this.processes));
  }

  /** Starts a process. Returns whether it came up: its disk may refuse, or end it. */
  async start(onRestart: 'abandon' | 'resume'): Promise<boolean> {
    const process = this.processes;
    // Admission of an earlier process is not this one's.
    this.network.process += 1;
    const starting = SimulatedAgent.start({
      ...{ kind: this.#kind, isStrict: this.#kind === 'gate' && this.chance.next() < 0.1 },
      ...{ folder: this.folder, onRestart, network: this.network, tools: this.#tools(process) },
      people: this.team.people,
      ...{ clock: this.time.clock, ids: this.#ids(), log: this.#log() },
    });
    const started = await this.until(starting).catch(() => null);
    if (process === this.processes) this.agent = started;
    return this.agent !== null;
  }

  /** Ends the process at once. With a power cut, the log loses part of what was not known to be on disk. */
  kill(what: 'process' | 'power'): void {
    const { folder } = this;
    const synced = this.disk.syncedOf(logPath(folder));
    this.agent?.surface.cut();
    this.team.cut();
    this.disk.kill(folder);
    this.processes += 1;
    this.agent = null;
    copyFiles(folder, this.folder);
    if (what === 'power') this.#tear(synced);
    this.time.forgetTimers();
  }

  /** Copies the files of the process as they are, and returns the folder of the copy. */
  copy(): string {
    this.#copies += 1;
    const folder = join(this.#root, `copy-${this.#copies}`);
    copyFiles(this.folder, folder);
    return folder;
  }

  /** Stops the process in good order. */
  async stop(): Promise<void> {
    const { agent } = this;
    this.agent = null;
    if (agent !== null) await this.until(agent.stop()).catch(() => undefined);
  }

  /** Lets what is ready run, in turns of the event loop. */
  async turns(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await turn();
  }

  /** Returns what a promise comes to, letting time pass for it. Rejects when an hour has passed. */
  async until<Result>(promise: Promise<Result>): Promise<Result> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    for (let rounds = 0; rounds < 36_000 && !isOver; rounds += 1) {
      await turn();
      // Turns come first: what waits for no timer is done before one runs.
      if (rounds > 20) this.time.pass(100);
    }
    if (!isOver) throw new Error('an hour has passed, and nothing came of it');
    return promise;
  }

  /** Gives the process of the tests its own world back. */
  async remove(): Promise<void> {
    await this.stop();
    this.time.remove();
    this.disk.remove();
    rmSync(this.#root, { recursive: true, force: true });
  }

  #tear(synced: number): void {
    const path = logPath(this.folder);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > synced) this.disk.cut(path, synced + this.chance.below(size - synced + 1));
  }

  #ids(): Ids {
    return {
      next: () =>
        v7({
          msecs: Date.now(),
          random: Uint8Array.from({ length: 16 }, () => this.chance.below(256)),
        }),
    };
  }

  #log(): Log {
    const note = (fields: object, message: string): void => {
      this.logged.push(`${message} ${JSON.stringify(fields, plainErrors)}`);
    };
    return { info: note, warn: note, error: note };
  }

  #tools(process: number): Tool[] {
    const act = async (tool: string, args: JsonObject, run: ToolRun): Promise<string> => {
      const { taskId, callId, signal } = run;
      // Nothing comes of what the dead begin.
      if (process !== this.processes) return new Promise(() => undefined);
      this.seen.push({ taskId, callId, tool, args });
      return this.#outcome(signal);
    };
    const tools = ['pay', 'look', 'refund', 'wipe'].map(
      (name): Tool => ({
        ...{ name, description: name, idempotent: false, parameters: { type: 'object' } },
        run: (args, run) => act(name, args, run),
      }),
    );
    return [...tools, httpRequest()];
  }

  /** What a program comes to: a result, soon or later, a failure, or nothing until it is called off. */
  #outcome(signal: AbortSignal): Promise<string> {
    const how = this.chance.weighed({ done: 6, later: 3, failed: 1, hanging: 1 });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    if (how === 'done') resolve(`done ${canary}`);
    if (how === 'failed') reject(new ToolError('exit code 1', { kind: 'exit code 1' }));
    if (how === 'later') setTimeout(() => resolve('done late'), this.chance.below(20_000));
    signal.addEventListener('abort', () => reject(new ToolError('called off')), { once: true });
    return promise;
  }
}

/** Copies what an exited process leaves; the index of the write-ahead log is its memory. */
function copyFiles(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (!name.endsWith('-shm')) copyFileSync(join(from, name), join(to, name));
  }
}

function plainErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}
