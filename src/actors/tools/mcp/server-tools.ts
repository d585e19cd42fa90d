import { isDeepStrictEqual } from 'node:util';
import type { RemoteTask } from '../../../machines/domain/task.ts';
import { commandLine } from '../../command-line.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { CallFigures } from '../../ports/mcp-servers.ts';
import type { Tool, ToolRun } from '../../ports/tool.ts';
import { normalName } from '../../tool-name.ts';
import type { CallLimits } from './call-deadline.ts';
import { CallCounts } from './call-figures.ts';
import type { CallParts } from './call-parts.ts';
import type { McpConnection } from './mcp-connection.ts';
import { isWanted, mcpToolName } from './mcp-names.ts';
import { mcpTool } from './mcp-tool.ts';
import type { OfferedTool } from './offered-tool.ts';
import type { ReadOffer } from './read-offer.ts';
import { followCall } from './remote-call.ts';
import { type SeenTool, type SeenTools, SeenToolsError, type Standing } from './seen-tools.ts';
import type { ServerCallParts } from './server-call.ts';
import { serverIdentity } from './server-identity.ts';
import type { ServerPlace } from './server-process.ts';
import { serverSecrets } from './server-secrets.ts';
import type { McpServerSettings } from './server-settings.ts';
import { type RuledMcpTool, unmatchedRules } from './unmatched-rules.ts';

export interface ServerToolsParts extends Pick<ServerPlace, 'agentDirectory' | 'isolation'> {
  /** The agent's tools, to which server tools are added and removed as they change. */
  tools: Map<string, Tool>;
  /** Returns whether the settings declare a tool idempotent; the server's hint is not used. */
  isIdempotent: (tool: string) => boolean;
  /** Returns whether calls of a tool are held. */
  isHeld: (tool: string) => boolean;
  /** Policy rules for tools of servers. */
  ruled: () => readonly RuledMcpTool[];
  seen: SeenTools;
  clock: Clock;
  log: Log;
  /** Records events in the audit log; rejects while the log cannot be written. */
  record: (...events: ToolEvent[]) => Promise<void>;
  /** Receives the recorded tools of a server after each offer and acceptance. */
  onRecorded?: (server: string, tools: readonly SeenTool[]) => void;
  /** Called when the agent gains, loses or replaces a tool. */
  onChange: () => void;
  limits?: Partial<CallLimits>;
}

/** Audit events about a server's tools (docs/contract/audit.md). */
export type ToolEvent =
  | {
      event: 'mcp_tool_withheld' | 'mcp_tool_accepted';
      fields: {
        server: string;
        tool: string;
        sha256: string;
        reason?: 'new' | 'changed';
        /** The person who accepted it on the dashboard. */
        by?: string;
      };
    }
  | { event: 'mcp_tools'; fields: { server: string; tools: string[]; deferred_tools: string[] } }
  | { event: 'mcp_rule_unmatched'; fields: { server: string; rule: string; nearest?: string } };

type ToolConnection = CallParts['connection'];

/** Maximum remembered messages about one server, so that each is logged once. */
const mostSaid = 1_000;

/** The agent's tools of one MCP server. */
export class ServerTools {
  readonly #server: McpServerSettings;
  readonly #parts: ServerToolsParts;
  #offer: ReadOffer | null = null;
  /** Current tools by the agent's name, with their hashes. */
  #given = new Map<string, string>();
  readonly #counts = new CallCounts();
  /** Why tools of the server are not in use, by their names there. */
  #withheld = new Map<string, string>();
  readonly #said = new Set<string>();
  /** True while acceptances are being recorded in the audit log. */
  #isTelling = false;

  constructor(server: McpServerSettings, parts: ServerToolsParts) {
    this.#server = server;
    this.#parts = parts;
  }

  /**
   * Replaces the agent's tools with a server's offer: those that the settings include, whose names are free, and whose
   * current definition is accepted.
   */
  take(offer: ReadOffer, connection: ToolConnection): void {
    this.#offer = offer;
    const { name: server, tools: list } = this.#server;
    const { tools } = this.#parts;
    this.#withheld = new Map(offer.unusable.map(({ name, reason }) => [name, `it ${reason}`]));
    for (const { name, reason } of offer.unusable) {
      this.#say(`mcp: the tool ${name} of ${server} is omitted: it ${reason}`);
    }
    if (offer.isWithoutTools === true) {
      this.#say(`mcp: ${server} offers no tools (its greeting lacks the capability)`);
    }
    const wanted = offer.tools.filter(({ name }) => isWanted(this.#server, name));
    for (const { name } of offer.tools) {
      if (!wanted.some((tool) => tool.name === name))
        this.#withheld.set(name, 'service.yaml excludes it');
    }
    for (const name of list.allow ?? []) {
      if (wanted.some((tool) => tool.name === name)) continue;
      this.#say(`mcp: ${server} has no tool ${name} that can be used, though tools.allow names it`);
    }
    const standings = this.#standingsOf(wanted);
    this.#tellAccepted();
    const before = this.#given;
    for (const name of before.keys()) tools.delete(name);
    const taken = new Set([...tools.keys()].map(normalName));
    const isWithheld = this.#reportUnmatched(offer);
    const given = wanted.filter((tool) => {
      if (isWithheld) {
        this.#withheld.set(tool.name, 'a rule of the policy fits no tool of the server');
        return false;
      }
      if (!taken.has(normalName(mcpToolName(server, tool.name)))) {
        return this.#isSeen(tool, standings.get(tool.name));
      }
      this.#say(
        `mcp: the tool ${tool.name} of ${server} is skipped: the agent has another tool of its name`,
      );
      this.#withheld.set(tool.name, 'the agent has another tool of its name');
      return false;
    });
    this.#given = new Map(given.map(({ name, sha256 }) => [mcpToolName(server, name), sha256]));
    for (const offered of given) this.#give(offered, connection);
    if (isDeepStrictEqual(before, this.#given)) return;
    this.#parts.onChange();
    const names = [...this.#given.keys()].toSorted();
    const held = names.filter((name) => this.#parts.isHeld(name));
    const fields = { server, tools: names, deferred_tools: held };
    this.#record({ event: 'mcp_tools', fields }).catch(() => undefined);
  }

  /** Reports rules that match no tool; returns whether the tools are withheld until the rules are fixed. */
  #reportUnmatched(offer: ReadOffer): boolean {
    const { name: server } = this.#server;
    const asks = this.#server.elicitation === 'ask';
    const listed = [...offer.tools, ...offer.unusable].map(({ name }) => name);
    const offered = asks ? [...listed, 'elicitation'] : listed;
    const unmatched = unmatchedRules(server, offered, this.#parts.ruled());
    for (const { rule, nearest, withholds } of unmatched) {
      const near = nearest === null ? '' : `; the nearest is ${nearest}`;
      const then = withholds ? `; the tools of ${server} are withheld until it is fixed` : '';
      if (!this.#say(`mcp: the rule ${rule} fits no tool of ${server}${near}${then}`)) continue;
      const fields = { server, rule, ...(nearest === null ? {} : { nearest }) };
      this.#record({ event: 'mcp_rule_unmatched', fields }).catch(() => undefined);
    }
    return unmatched.some(({ withholds }) => withholds);
  }

  get figures(): CallFigures {
    return this.#counts.figures;
  }

  /** Why tools of the latest offer are not in use, by their names at the server; a tool to be accepted is not here. */
  get withheld(): ReadonlyMap<string, string> {
    return this.#withheld;
  }

  /** Updates the agent's tools, since withheld ones may have been accepted. */
  lookAgain(connection: ToolConnection): void {
    if (this.#offer !== null) this.take(this.#offer, connection);
  }

  #give(offered: OfferedTool, connection: ToolConnection): void {
    const { tools, isIdempotent } = this.#parts;
    const name = mcpToolName(this.#server.name, offered.name);
    const parts = this.#callParts(name, connection);
    tools.set(name, mcpTool({ ...parts, offered, idempotent: isIdempotent(name) }));
  }

  /** Follows the task of a call of one of the server's tools, which need not exist any more. */
  follow(
    tool: string,
    remote: RemoteTask,
    run: ToolRun,
    connection: McpConnection,
  ): Promise<string> {
    return followCall(this.#callParts(tool, connection), remote, run);
  }

  #callParts(name: string, connection: ToolConnection): Omit<ServerCallParts, 'offered'> {
    const { clock, limits } = this.#parts;
    return {
      name,
      connection,
      clock,
      server: this.#server.name,
      secrets: serverSecrets(this.#server),
      place: () => serverIdentity(this.#server, this.#parts),
      asks: this.#server.elicitation === 'ask',
      limits: { ...limitsOf(this.#server), ...limits },
      onCalled: (took, hasFailed) => this.#counts.add(took, hasFailed),
    };
  }

  /** While the record cannot be read, no tool counts as accepted. */
  #standingsOf(offered: readonly OfferedTool[]): Map<string, Standing> {
    const { name: server, tools } = this.#server;
    try {
      const isNamed = (tool: string) => tools.allow?.includes(tool) === true;
      const standings = this.#parts.seen.check(server, offered, isNamed);
      this.#parts.onRecorded?.(server, this.#parts.seen.toolsOf(server) ?? []);
      return standings;
    } catch (error) {
      const isOurs = error instanceof SeenToolsError;
      const reason = isOurs ? error.message : 'the accepted tools cannot be stored';
      this.#say(`mcp: the tools of ${server} are withheld: ${reason}`);
      return new Map();
    }
  }

  #isSeen({ name, sha256 }: OfferedTool, standing: Standing | undefined): boolean {
    if (standing === 'accepted') return true;
    if (standing === undefined) return false;
    const { name: server } = this.#server;
    const why =
      standing === 'new'
        ? 'it has not been accepted yet'
        : 'its description or its arguments have changed';
    const look = `\`${commandLine('mcp list')}\` shows it and the command that accepts it`;
    if (this.#say(`mcp: the tool ${name} of ${server} is withheld: ${why}; ${look}`, sha256)) {
      const fields = { server, tool: name, sha256, reason: standing };
      this.#record({ event: 'mcp_tool_withheld', fields }).catch(() => undefined);
    }
    return false;
  }

  /** Records new acceptances in the audit log, including those made while no daemon ran; retries after a failure. */
  #tellAccepted(): void {
    const { seen } = this.#parts;
    const { name: server } = this.#server;
    if (this.#isTelling) return;
    const news = newsOf(seen, server);
    if (news.length === 0) return;
    this.#isTelling = true;
    const events = news.map(({ name: tool, sha256, by }): ToolEvent => {
      const fields = { server, tool, sha256, ...(by === undefined ? {} : { by }) };
      return { event: 'mcp_tool_accepted', fields };
    });
    this.#record(...events)
      .then(() => seen.told(server, news))
      .catch(() => undefined)
      .finally(() => {
        this.#isTelling = false;
      });
  }

  /** Rejects with an error that names the events. */
  async #record(...events: ToolEvent[]): Promise<void> {
    const { record, log } = this.#parts;
    try {
      await record(...events);
    } catch (error) {
      log.error({ error, server: this.#server.name }, 'mcp: the event could not be logged');
      throw error;
    }
  }

  /** Logs a message once, and returns whether it was new. */
  #say(message: string, about = ''): boolean {
    const key = `${message} ${about}`;
    if (this.#said.has(key) || this.#said.size >= mostSaid) return false;
    this.#said.add(key);
    this.#parts.log.warn({ server: this.#server.name }, message);
    return true;
  }
}

function limitsOf({ timeout, total_timeout: total }: McpServerSettings): Partial<CallLimits> {
  return {
    ...(timeout === undefined ? {} : { timeout }),
    ...(total === undefined ? {} : { total }),
  };
}

/** Returns acceptances for a server that are not yet in the audit log; empty while the record cannot be read. */
function newsOf(
  seen: SeenTools,
  server: string,
): { name: string; sha256: string; by?: string | undefined }[] {
  try {
    return (seen.toolsOf(server) ?? []).flatMap(({ name, accepted, isNews, by }) =>
      isNews === true && accepted !== null ? [{ name, sha256: accepted.sha256, by }] : [],
    );
  } catch {
    return [];
  }
}
