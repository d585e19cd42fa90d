import { isDeepStrictEqual } from 'node:util';
import { commandLine } from '../../command-line.ts';
import type { Clock, Log, Tool } from '../../ports.ts';
import { normalName } from '../../tool-name.ts';
import type { McpConnection } from './mcp-connection.ts';
import { isWanted, mcpToolName } from './mcp-names.ts';
import { type CallLimits, mcpTool } from './mcp-tool.ts';
import type { OfferedTool } from './offered-tool.ts';
import type { ReadOffer } from './read-offer.ts';
import { type SeenTools, SeenToolsError, type Standing } from './seen-tools.ts';
import { serverIdentity } from './server-identity.ts';
import type { ServerPlace } from './server-process.ts';
import { serverSecrets } from './server-secrets.ts';
import type { McpServerSettings } from './server-settings.ts';
import { type RuledMcpTool, unmatchedRules } from './unmatched-rules.ts';

/** What the tools of a server are given to. */
export interface ServerToolsParts extends Pick<ServerPlace, 'agentDirectory' | 'isolation'> {
  /** The tools of the agent, to which those of the servers are added as they come and go. */
  tools: Map<string, Tool>;
  /** Tells of a tool whether the settings call it idempotent; a server is not asked. */
  isIdempotent: (tool: string) => boolean;
  /** Tells of a tool whether its calls wait for a person. */
  isHeld: (tool: string) => boolean;
  /** The rules of the policy for tools of servers. */
  ruled: readonly RuledMcpTool[];
  seen: SeenTools;
  clock: Clock;
  log: Log;
  /** Writes what concerns people into the audit log; rejects while nothing can be written. */
  record: (...events: ToolEvent[]) => Promise<void>;
  /** Hears when the agent has got or lost a tool, or has another in place of one. */
  onChange: () => void;
  limits?: Partial<CallLimits>;
}

/** What the audit log has of the tools of a server (docs/contract/audit.md). */
export type ToolEvent =
  | {
      event: 'mcp_tool_withheld' | 'mcp_tool_accepted';
      fields: { server: string; tool: string; sha256: string; reason?: 'new' | 'changed' };
    }
  | { event: 'mcp_tools'; fields: { server: string; tools: string[]; deferred_tools: string[] } }
  | { event: 'mcp_rule_unmatched'; fields: { server: string; rule: string; nearest?: string } };

/** Sentences about one server that are remembered, so that each is said once. */
const mostSaid = 1_000;

/** The tools that the agent has of one MCP server. */
export class ServerTools {
  readonly #server: McpServerSettings;
  readonly #parts: ServerToolsParts;
  #offer: ReadOffer | null = null;
  /** Names under which the agent has them now, with the hash of each. */
  #given = new Map<string, string>();
  readonly #said = new Set<string>();
  /** True while the audit log is told what was accepted. */
  #isTelling = false;

  constructor(server: McpServerSettings, parts: ServerToolsParts) {
    this.#server = server;
    this.#parts = parts;
  }

  /**
   * Gives the agent what a server offers, in place of what it offered before: those tools that the settings want,
   * whose names are free, and that somebody has seen as they are.
   */
  take(offer: ReadOffer, connection: Pick<McpConnection, 'session' | 'fault'>): void {
    this.#offer = offer;
    const { name: server, tools: list } = this.#server;
    const { tools } = this.#parts;
    for (const { name, reason } of offer.unusable) {
      this.#say(`mcp: the tool ${name} of ${server} is left out: it ${reason}`);
    }
    if (offer.isWithoutTools === true) {
      this.#say(`mcp: ${server} offers no tools (its greeting lacks the capability)`);
    }
    const wanted = offer.tools.filter(({ name }) => isWanted(this.#server, name));
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
      if (isWithheld) return false;
      if (!taken.has(normalName(mcpToolName(server, tool.name)))) {
        return this.#isSeen(tool, standings.get(tool.name));
      }
      this.#say(
        `mcp: the tool ${tool.name} of ${server} is left out: the agent has another of its name`,
      );
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

  /** Reports the rules that fit no tool; returns whether the tools are withheld until they are mended. */
  #reportUnmatched(offer: ReadOffer): boolean {
    const { name: server } = this.#server;
    const offered = [...offer.tools, ...offer.unusable].map(({ name }) => name);
    const unmatched = unmatchedRules(server, offered, this.#parts.ruled);
    for (const { rule, nearest, withholds } of unmatched) {
      const near = nearest === null ? '' : `; the nearest is ${nearest}`;
      const then = withholds ? `; the tools of ${server} are withheld until it is mended` : '';
      if (!this.#say(`mcp: the rule ${rule} fits no tool of ${server}${near}${then}`)) continue;
      const fields = { server, rule, ...(nearest === null ? {} : { nearest }) };
      this.#record({ event: 'mcp_rule_unmatched', fields }).catch(() => undefined);
    }
    return unmatched.some(({ withholds }) => withholds);
  }

  /** Gives the agent what it may have now, as somebody may have looked at what was withheld. */
  lookAgain(connection: Pick<McpConnection, 'session' | 'fault'>): void {
    if (this.#offer !== null) this.take(this.#offer, connection);
  }

  #give(offered: OfferedTool, connection: Pick<McpConnection, 'session' | 'fault'>): void {
    const { name: server } = this.#server;
    const { tools, isIdempotent, clock, limits } = this.#parts;
    const name = mcpToolName(server, offered.name);
    const tool = mcpTool({
      ...{ name, server, offered, connection, clock },
      idempotent: isIdempotent(name),
      secrets: serverSecrets(this.#server),
      place: () => serverIdentity(this.#server, this.#parts),
      limits: { ...limitsOf(this.#server), ...limits },
    });
    tools.set(name, tool);
  }

  /** While what was seen cannot be read, nothing counts as seen. */
  #standingsOf(offered: readonly OfferedTool[]): Map<string, Standing> {
    const { name: server, tools } = this.#server;
    try {
      const isNamed = (tool: string) => tools.allow?.includes(tool) === true;
      return this.#parts.seen.check(server, offered, isNamed);
    } catch (error) {
      const isOurs = error instanceof SeenToolsError;
      const reason = isOurs ? error.message : 'what was seen cannot be written down';
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
        ? 'nobody has seen it yet'
        : 'its description or its arguments are not what they were';
    const look = `\`${commandLine('mcp list')}\` shows it and says what lets it in`;
    if (this.#say(`mcp: the tool ${name} of ${server} is withheld: ${why}; ${look}`, sha256)) {
      const fields = { server, tool: name, sha256, reason: standing };
      this.#record({ event: 'mcp_tool_withheld', fields }).catch(() => undefined);
    }
    return false;
  }

  /** Tells the audit log what somebody has accepted since, be it while no daemon ran; again, if it could not be told. */
  #tellAccepted(): void {
    const { seen } = this.#parts;
    const { name: server } = this.#server;
    if (this.#isTelling) return;
    const news = newsOf(seen, server);
    if (news.length === 0) return;
    this.#isTelling = true;
    const events = news.map(({ name: tool, sha256 }): ToolEvent => {
      return { event: 'mcp_tool_accepted', fields: { server, tool, sha256 } };
    });
    this.#record(...events)
      .then(() => seen.told(server, news))
      .catch(() => undefined)
      .finally(() => {
        this.#isTelling = false;
      });
  }

  /** Rejects with what the log was told of. */
  async #record(...events: ToolEvent[]): Promise<void> {
    const { record, log } = this.#parts;
    try {
      await record(...events);
    } catch (error) {
      log.error({ error, server: this.#server.name }, 'mcp: the audit log could not be told');
      throw error;
    }
  }

  /** Says something once, and tells whether this was the time. */
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

/** Returns what of a server was accepted and the audit log has not been told of; nothing while that cannot be read. */
function newsOf(seen: SeenTools, server: string): { name: string; sha256: string }[] {
  try {
    return (seen.toolsOf(server) ?? []).flatMap(({ name, accepted, isNews }) =>
      isNews === true && accepted !== null ? [{ name, sha256: accepted.sha256 }] : [],
    );
  } catch {
    return [];
  }
}
