import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import { writePrivately } from '../../process/process.ts';
import type { OfferedTool } from './offered-tool.ts';

const definition = z.object({
  description: z.string(),
  parameters: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
  sha256: z.string(),
});

const seenTool = z.object({
  name: z.string(),
  /** What somebody has seen, and the agent may use; `null` for a tool that nobody has looked at. */
  accepted: definition.nullable(),
  /** What the server offered last. */
  offered: definition.nullable(),
  /** True once somebody has accepted it, until the audit log says so. */
  isNews: z.boolean().optional(),
});

const seenFile = z.object({
  version: z.literal(1),
  servers: z.array(z.object({ name: z.string(), tools: z.array(seenTool) })),
});

type SeenFile = z.output<typeof seenFile>;

/** A tool as it was seen and as it is offered. */
export type SeenTool = z.output<typeof seenTool>;

/** How an offered tool stands to what was seen: the same, another than that, or never looked at. */
export type Standing = 'accepted' | 'changed' | 'new';

/** The file of tools that were seen cannot be read; while it cannot, no tool counts as seen. */
export class SeenToolsError extends Error {
  readonly code = 'mcp_tools_unreadable';

  constructor(path: string, options: ErrorOptions) {
    super(`${path} cannot be read; remove it to see every tool as if for the first time`, options);
  }
}

/**
 * The tools of MCP servers as somebody has seen them, in a file of the agent's state folder. A server whose tools were
 * never seen is taken at its word once; after that, what it changes is kept back until somebody has looked.
 */
export class SeenTools {
  readonly path: string;

  /** @param directory the agent's folder */
  constructor(directory: string) {
    this.path = join(directory, '.service', 'mcp-tools.json');
  }

  /**
   * Writes down what a server offers, and says of each tool how it stands. `isNamed` tells of a tool whether the
   * settings name it: one that is named there is no surprise when it first comes. Throws SeenToolsError.
   */
  check(
    server: string,
    offered: readonly OfferedTool[],
    isNamed: (tool: string) => boolean,
  ): Map<string, Standing> {
    const file = this.#read();
    const known = file.servers.find(({ name }) => name === server);
    const before = new Map((known?.tools ?? []).map((tool) => [tool.name, tool]));
    const tools = offered.map((tool): SeenTool => {
      const accepted = before.get(tool.name)?.accepted ?? null;
      const isTaken = known === undefined || (!before.has(tool.name) && isNamed(tool.name));
      const news = before.get(tool.name)?.isNews === true ? { isNews: true } : {};
      return {
        ...{ name: tool.name, accepted: isTaken ? shown(tool) : accepted },
        ...{ offered: shown(tool), ...news },
      };
    });
    // What is not offered now may come back, and must not be new then.
    const gone = [...before.values()]
      .filter(
        ({ name, accepted }) => accepted !== null && !tools.some((tool) => tool.name === name),
      )
      .map((tool) => ({ ...tool, offered: null }));
    this.#write(file, server, [...tools, ...gone]);
    return new Map(tools.map((tool) => [tool.name, standingOf(tool)]));
  }

  /** Returns what is known of the tools of a server; `null` when it was never seen. Throws SeenToolsError. */
  toolsOf(server: string): SeenTool[] | null {
    return this.#read().servers.find(({ name }) => name === server)?.tools ?? null;
  }

  /**
   * Accepts what a server offered last, of all its tools or of those named, and returns the ones that this lets in.
   * One that is named with `fingerprintOf` is accepted as it was then or not at all. Throws SeenToolsError.
   */
  accept(server: string, names: readonly string[] | null): string[] {
    const file = this.#read();
    const tools = file.servers.find(({ name }) => name === server)?.tools ?? [];
    const isMeant = (tool: SeenTool) =>
      tool.offered !== null &&
      standingOf(tool) !== 'accepted' &&
      (names === null || names.includes(tool.name) || names.includes(fingerprintOf(tool)));
    const accepted = tools.filter(isMeant).map(({ name }) => name);
    const changed = tools.map((tool) =>
      isMeant(tool) ? { ...tool, accepted: tool.offered, isNews: true } : tool,
    );
    if (accepted.length > 0) this.#write(file, server, changed);
    return accepted;
  }

  /** Notes that the audit log says of what was accepted, as it was then. Throws SeenToolsError. */
  told(server: string, accepted: readonly { name: string; sha256: string }[]): void {
    const file = this.#read();
    const tools = file.servers.find(({ name }) => name === server)?.tools ?? [];
    const isTold = (tool: SeenTool) =>
      accepted.some(({ name, sha256 }) => name === tool.name && sha256 === tool.accepted?.sha256);
    const left = tools.map((tool) => {
      const { isNews: _, ...rest } = tool;
      return isTold(tool) ? rest : tool;
    });
    this.#write(file, server, left);
  }

  #read(): SeenFile {
    if (!existsSync(this.path)) return { version: 1, servers: [] };
    try {
      return seenFile.parse(JSON.parse(readFileSync(this.path, 'utf8')));
    } catch (error) {
      throw new SeenToolsError(this.path, { cause: error });
    }
  }

  #write(file: SeenFile, server: string, tools: SeenTool[]): void {
    const others = file.servers.filter(({ name }) => name !== server);
    const text = JSON.stringify({ version: 1, servers: [...others, { name: server, tools }] });
    if (existsSync(this.path) && readFileSync(this.path, 'utf8') === text) return;
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    writePrivately(this.path, text);
  }
}

/** Names a tool as it is offered now; too long for a server to make two definitions with one. */
export function fingerprintOf({ name, offered }: Pick<SeenTool, 'name' | 'offered'>): string {
  return `${name}@${offered?.sha256.slice(0, 32) ?? ''}`;
}

/** Says how a tool stands that is offered. */
export function standingOf({
  accepted,
  offered,
}: Pick<SeenTool, 'accepted' | 'offered'>): Standing {
  if (accepted === null) return 'new';
  return accepted.sha256 === offered?.sha256 ? 'accepted' : 'changed';
}

function shown({ description, parameters, sha256 }: OfferedTool): SeenTool['accepted'] {
  return { description, parameters, sha256 };
}
