import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { keepInPostgres, leaveStore } from './kept-store.ts';

/** The parts of `service.yaml` that a test may set. */
export interface ServiceSettings {
  description?: string;
  model?: object;
  gate?: object;
  instructions?: string | object;
  channels?: string[];
  mcp?: object;
  tools?: { name: string; idempotent: boolean }[];
  approvals?: object;
  auth?: object;
  audit?: object;
  security?: {
    defer?: object;
    step_up?: object;
    modify?: object;
    guardrails?: object;
    policy?: object;
    limits?: object;
    effects?: object;
  };
  store?: { kind?: string; path?: string; [key: string]: unknown };
  server?: object;
  egress?: object;
}

/** Tests send more requests than a person would. */
const unlimited = {
  read_rps: 1_000_000,
  read_burst: 1_000_000,
  write_rps: 1_000_000,
  write_burst: 1_000_000,
};

/**
 * The tools of every test agent. `pay` leaves a trace of each run; `hold` says that it started and
 * ends when its gate is opened.
 */
const scripts: Record<string, string> = {
  pay: 'echo "$SERVICE_TOOL_CALL_ID" >> "$SERVICE_AGENT_DIR/paid"\ncat\n',
  grant: 'cat\n',
  echo: 'cat\n',
  break: 'echo "the till is stuck" >&2\nexit 3\n',
  hold: 'mkfifo "$SERVICE_AGENT_DIR/gate" 2> /dev/null\necho "$SERVICE_TOOL_CALL_ID" >> "$SERVICE_AGENT_DIR/held"\ncat "$SERVICE_AGENT_DIR/gate"\n',
};

const skill = `---
name: till
description: The tools that tests use.
---
${Object.keys(scripts)
  .map((name) => `## Tool: ${name}\n\nDoes what ${name} does.\n`)
  .join('\n')}`;

/** The folder of an agent, with its tools and a way to look at what they did. */
export class AgentFolder {
  readonly path: string;

  /** `path` is there already; without it the folder is a temporary one. */
  constructor(
    settings: ServiceSettings & { agent_id?: string },
    path = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-agent-'))),
  ) {
    this.path = path;
    const server = { rate_limit: unlimited };
    // The scripts leave their traces in the folder of the agent itself, which a sandbox would not let them.
    const egress = { sandbox: 'env', ...settings.egress };
    const { agent_id = 'till' } = settings;
    const store = storeOf(this.path, agent_id, settings.store);
    const service = { agent_id, server, ...settings, ...store, egress };
    mkdirSync(join(this.path, 'scripts'));
    writeFileSync(join(this.path, 'service.yaml'), JSON.stringify(service, null, 2));
    writeFileSync(join(this.path, 'SKILL.md'), skill);
    for (const [name, body] of Object.entries(scripts)) {
      writeFileSync(join(this.path, 'scripts', `${name}.sh`), body);
    }
  }

  /** Calls that `pay` has served, in order. */
  get paid(): string[] {
    return this.#linesOf('paid');
  }

  /** Calls that `hold` has begun to serve, in order. */
  get held(): string[] {
    return this.#linesOf('held');
  }

  /** Lets a `hold` continue with this result, as soon as it waits at the gate. */
  async openGate(result: string): Promise<void> {
    await vi.waitUntil(() => this.#pushGate(result), { timeout: 10_000, interval: 5 });
  }

  /** Lets a `hold` that waits at the gate go, if there is one. */
  leaveGate(): void {
    this.#pushGate('');
  }

  /** Removes the folder, and every call that still waits at the gate. */
  remove(): void {
    this.leaveGate();
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
    leaveStore(this.path);
  }

  /** Returns whether a call was at the gate. */
  #pushGate(result: string): boolean {
    try {
      const flags = constants.O_WRONLY | constants.O_NONBLOCK;
      const gate = openSync(join(this.path, 'gate'), flags);
      writeFileSync(gate, result);
      closeSync(gate);
      return true;
    } catch (error) {
      // Without a `hold` there is no gate, or nobody at it.
      if (['ENOENT', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
      throw error;
    }
  }

  #linesOf(name: string): string[] {
    try {
      return readFileSync(join(this.path, name), 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  }
}

/** What `service.yaml` says of the store: what a test asks for, in the kind of database that tests run over where it names none. */
function storeOf(
  folder: string,
  agentId: string,
  asked: ServiceSettings['store'],
): Pick<ServiceSettings, 'store'> {
  const own = asked?.kind === undefined ? keepInPostgres(folder, agentId) : null;
  if (own === null) return asked === undefined ? {} : { store: asked };
  // A path is that of a file.
  const { path: _, ...rest } = asked ?? {};
  return { store: { ...rest, ...own } };
}
