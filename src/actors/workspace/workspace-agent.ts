import { join } from 'node:path';
import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import {
  type AgentProcessEvent,
  type AgentProcessState,
  agentProcessMachine,
  agentProcessState,
} from '../../machines/agent-process/agent-process-machine.ts';
import type { ServedAgent } from '../../machines/agent-process/served-agent.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { lastStartFlags, readServeFile } from '../process/process.ts';
import type { AgentDescription } from './agent-description.ts';
import { AgentLine } from './agent-line.ts';
import { ChangedTasks } from './changed-tasks.ts';
import { followAgent } from './follow-agent.ts';
import { haltAgent } from './halt-agent.ts';
import { type AgentCommand, launchAgent } from './launch-agent.ts';
import { connectTo } from './own-process.ts';
import { Pulse } from './pulse.ts';
import { sightAgent } from './sight-agent.ts';

/** Receives the events of a workspace's agent. */
export interface AgentListener {
  /** Its state or its description has changed. */
  onChange: (agent: WorkspaceAgent) => void;
  /** Some of its tasks have changed. Never rejects. */
  onTasks: (agent: WorkspaceAgent, ids: readonly string[]) => Promise<void>;
  /** Events may have been missed. */
  onGap: (agent: WorkspaceAgent) => void;
}

export interface WorkspaceAgentOptions extends AgentListener {
  directory: string;
  id: string;
  description: AgentDescription;
  command: AgentCommand;
  clock: Clock;
  log: Log;
}

/** The agent's current state does not allow the request; the message gives the reason. */
export class AgentStateError extends Error {
  readonly code: 'wrong_state' | 'passphrase_needed' | 'not_running';

  constructor(code: AgentStateError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** One agent of the workspace: its description, its process, and a client for it while it runs. */
export class WorkspaceAgent {
  readonly directory: string;
  id: string;
  description: AgentDescription;
  readonly #options: WorkspaceAgentOptions;
  readonly #actor: ActorRefFrom<typeof agentProcessMachine>;
  #way: { pid: number; line: AgentLine; pulse: Pulse; leave: () => void } | null = null;
  #told = '';
  /** Arguments of its last start; `null` until it has been seen running. */
  #startedWith: readonly string[] | null = null;

  constructor(options: WorkspaceAgentOptions) {
    this.#options = options;
    this.directory = options.directory;
    this.id = options.id;
    this.description = options.description;
    this.#actor = createActor(this.#logic(), { clock: options.clock });
    this.#actor.subscribe({
      next: () => this.#changed(),
      error: (error) => options.log.error({ error }, 'workspace: an agent is not watched any more'),
    });
    this.#actor.start();
  }

  get state(): AgentProcessState {
    return agentProcessState(this.#actor.getSnapshot().value);
  }

  get served(): ServedAgent | null {
    return this.#actor.getSnapshot().context.served;
  }

  /** Arguments that a start from here adds to `run --dir DIR`: the arguments of its last start. */
  get flags(): readonly string[] {
    this.#startedWith ??= lastStartFlags(this.directory, this.#options.command.env);
    return this.#startedWith;
  }

  /** True if it runs in this process, so stopping it would end this process. */
  get isHere(): boolean {
    return this.served?.pid === process.pid;
  }

  /** Why the last process ended; `null` for no reported reason. */
  get error(): string | null {
    return this.#actor.getSnapshot().context.error;
  }

  /** Time since which the running agent does not respond, in epoch milliseconds; `null` while it responds. */
  get silentSince(): number | null {
    return this.#way?.pulse.since ?? null;
  }

  /** Checks the process of the agent; whether it responds is reported later. */
  async look(): Promise<void> {
    const sighting = await sightAgent(this.directory);
    this.#actor.send({ type: 'process.seen', sighting });
    void this.#way?.pulse.check();
  }

  /** Starts the agent, which continues independently. Throws an AgentStateError. */
  start(passphrase: string | null): void {
    this.#checkPassphrase(passphrase);
    this.#order({ type: 'agent.start', passphrase }, 'started');
  }

  /** Stops the agent. Throws an AgentStateError. */
  stop(): void {
    this.#order({ type: 'agent.stop' }, 'stopped');
  }

  /** Restarts the agent. Throws an AgentStateError. */
  restart(passphrase: string | null): void {
    this.#checkPassphrase(passphrase);
    this.#order({ type: 'agent.restart', passphrase }, 'restarted');
  }

  /** Returns the client of the running agent. Throws an AgentStateError. */
  line(): AgentLine {
    if (this.#way !== null) return this.#way.line;
    throw new AgentStateError('not_running', `the agent ${this.id} does not run`);
  }

  /** Disconnects from the agent, which continues to run. */
  async close(): Promise<void> {
    this.#actor.stop();
    await this.#leave();
  }

  #checkPassphrase(passphrase: string | null): void {
    if (passphrase !== null || !this.description.needsPassphrase) return;
    const message = `the secrets of ${this.id} are encrypted; give their passphrase`;
    throw new AgentStateError('passphrase_needed', message);
  }

  #order(event: AgentProcessEvent, done: string): void {
    if (this.isHere) {
      const message = `the agent ${this.id} runs in the program that serves this page and ends with it; end that program in its terminal`;
      throw new AgentStateError('wrong_state', message);
    }
    if (!this.#actor.getSnapshot().can(event)) {
      const message = `the agent ${this.id} is ${this.state} and cannot be ${done} now`;
      throw new AgentStateError('wrong_state', message);
    }
    this.#actor.send(event);
  }

  #logic() {
    const { directory, command } = this.#options;
    return agentProcessMachine.provide({
      actors: {
        launch: fromPromise(({ input: { passphrase } }) =>
          launchAgent({ directory, command, passphrase, flags: this.flags }),
        ),
        halt: fromPromise(async () => {
          await haltAgent({ directory });
        }),
      },
    });
  }

  #changed(): void {
    const { served } = this;
    const isUp = this.state === 'running' && served !== null;
    if (this.#way !== null && (!isUp || served.pid !== this.#way.pid)) void this.#leave();
    if (isUp && this.#way === null) this.#meet(served.pid);
    const now = JSON.stringify([this.state, served, this.error, this.silentSince]);
    if (now === this.#told) return;
    this.#told = now;
    this.#options.onChange(this);
  }

  #meet(pid: number): void {
    const found = readServeFile(join(this.directory, '.service'));
    if (found === null || found.pid !== pid) return;
    this.#startedWith = found.flags ?? null;
    const { clock, log, onTasks, onGap } = this.#options;
    const line = new AgentLine(connectTo(this.directory, found, clock), clock);
    const changed = new ChangedTasks({
      tell: (ids) => onTasks(this, ids),
      onFlood: () => onGap(this),
    });
    const leave = followAgent({
      line,
      clock,
      log,
      onUp: () => onGap(this),
      onDown: () => void this.#lookAfterLoss(),
      onEvent: (message) => changed.add(message),
    });
    const pulse = new Pulse({ line, clock, onChange: () => this.#changed() });
    const end = (): void => {
      leave();
      pulse.close();
      changed.close();
    };
    this.#way = { pid, line, pulse, leave: end };
  }

  /** Looks after a lost connection. A failure is logged, because the next scan of the folder looks again. */
  async #lookAfterLoss(): Promise<void> {
    try {
      await this.look();
    } catch (error) {
      this.#options.log.error({ error }, 'workspace: the state of an agent could not be read');
    }
  }

  async #leave(): Promise<void> {
    const way = this.#way;
    this.#way = null;
    way?.leave();
    await way?.line.close();
  }
}
