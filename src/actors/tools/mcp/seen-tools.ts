import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { JsonObject } from '../../../machines/json.ts';
import { writePrivately } from '../../process/process.ts';
import type { OfferedTool } from './offered-tool.ts';

/** A version of a tool. */
export const definition = z.object({
  description: z.string(),
  parameters: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
  sha256: z.string(),
});

const seenTool = z.object({
  name: z.string(),
  /** The definition that a person has accepted; `null` for a tool that has not been reviewed. */
  accepted: definition.nullable(),
  /** The latest definition from the server. */
  offered: definition.nullable(),
  /** True from acceptance until it is recorded in the audit log. */
  isNews: z.boolean().optional(),
  /** The person who accepted it on the dashboard, until then. */
  by: z.string().optional(),
});

const seenFile = z.object({
  version: z.literal(1),
  servers: z.array(z.object({ name: z.string(), tools: z.array(seenTool) })),
});

type SeenFile = z.output<typeof seenFile>;

/** The accepted and the offered definition of a tool. */
export type SeenTool = z.output<typeof seenTool>;

/** Review state of an offered tool: accepted, changed since, or new. */
export type Standing = 'accepted' | 'changed' | 'new';

/** The file of accepted tools cannot be read; meanwhile no tool counts as accepted. */
export class SeenToolsError extends Error {
  readonly code = 'mcp_tools_unreadable';

  constructor(path: string, options: ErrorOptions) {
    super(`${path} cannot be read; remove it to see every tool as if for the first time`, options);
  }
}

/**
 * Accepted tools of MCP servers, stored in the agent's state folder. A new server's tools are accepted once without a
 * review (trust on first use); later changes are withheld until a person accepts them.
 */
export class SeenTools {
  readonly path: string;

  /** @param directory the agent's folder */
  constructor(directory: string) {
    this.path = join(directory, '.service', 'mcp-tools.json');
  }

  /**
   * Records a server's offer and returns the review state of each tool. `isNamed` returns whether the settings list a
   * tool: a listed tool is accepted when it first appears. Throws SeenToolsError.
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
      const { isNews, by } = before.get(tool.name) ?? {};
      const news = isNews === true ? { isNews, ...(by === undefined ? {} : { by }) } : {};
      return {
        name: tool.name,
        accepted: isTaken ? shown(tool) : accepted,
        offered: shown(tool),
        ...news,
      };
    });
    // A tool that is missing now may return, and must not count as new then.
    const gone = [...before.values()]
      .filter(
        ({ name, accepted }) => accepted !== null && !tools.some((tool) => tool.name === name),
      )
      .map((tool) => ({ ...tool, offered: null }));
    this.#write(file, server, [...tools, ...gone]);
    return new Map(tools.map((tool) => [tool.name, standingOf(tool)]));
  }

  /** Returns the recorded tools of a server; `null` if it was never seen. Throws SeenToolsError. */
  toolsOf(server: string): SeenTool[] | null {
    return this.#read().servers.find(({ name }) => name === server)?.tools ?? null;
  }

  /**
   * Accepts the latest offer of a server, for all or the named tools, and returns the newly accepted ones. A tool named
   * with `fingerprintOf` is accepted only in that version. `by` is the person who accepts them. Throws SeenToolsError.
   */
  accept(server: string, names: readonly string[] | null, by?: string): string[] {
    const file = this.#read();
    const tools = file.servers.find(({ name }) => name === server)?.tools ?? [];
    const isMeant = (tool: SeenTool) =>
      tool.offered !== null &&
      standingOf(tool) !== 'accepted' &&
      (names === null || names.includes(tool.name) || names.includes(fingerprintOf(tool)));
    const accepted = tools.filter(isMeant).map(({ name }) => name);
    const changed = tools.map((tool) =>
      isMeant(tool)
        ? { ...tool, accepted: tool.offered, isNews: true, ...(by === undefined ? {} : { by }) }
        : tool,
    );
    if (accepted.length > 0) this.#write(file, server, changed);
    return accepted;
  }

  /** Takes over the versions of a server's tools that were accepted at another daemon. Throws SeenToolsError. */
  adopt(
    server: string,
    pins: readonly { name: string; accepted: z.output<typeof definition> }[],
  ): void {
    const file = this.#read();
    const known = file.servers.find(({ name }) => name === server)?.tools ?? [];
    const pinOf = new Map(pins.map(({ name, accepted }) => [name, accepted]));
    const adopted = known.map((tool) => {
      const accepted = pinOf.get(tool.name);
      return accepted === undefined ? tool : { ...tool, accepted };
    });
    const added = pins
      .filter(({ name }) => !known.some((tool) => tool.name === name))
      .map(({ name, accepted }): SeenTool => ({ name, accepted, offered: null }));
    this.#write(file, server, [...adopted, ...added]);
  }

  /** Marks acceptances, in the given versions, as recorded in the audit log. Throws SeenToolsError. */
  told(server: string, accepted: readonly { name: string; sha256: string }[]): void {
    const file = this.#read();
    const tools = file.servers.find(({ name }) => name === server)?.tools ?? [];
    const isTold = (tool: SeenTool) =>
      accepted.some(({ name, sha256 }) => name === tool.name && sha256 === tool.accepted?.sha256);
    const left = tools.map((tool) => {
      const { isNews: _, by: __, ...rest } = tool;
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

/** Identifies the offered version of a tool; too long for a server to create a collision. */
export function fingerprintOf({ name, offered }: Pick<SeenTool, 'name' | 'offered'>): string {
  return `${name}@${offered?.sha256.slice(0, 32) ?? ''}`;
}

/** Returns the review state of an offered tool. */
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
