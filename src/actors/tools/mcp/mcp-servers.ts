import { unwatchFile, watchFile } from 'node:fs';
import type { OperatedServers } from '../../ports/mcp-servers.ts';
import type { RemoteCalls } from '../../ports/tool.ts';
import type { ServerAuth } from './auth/server-auth.ts';
import type { VaultPorts } from './auth/token-vault.ts';
import { httpTransport, type ServerEgress } from './http-transport.ts';
import { McpConnection } from './mcp-connection.ts';
import { mcpToolName } from './mcp-names.ts';
import { movedCall } from './moved-call.ts';
import { fingerprintOf, type SeenTool, SeenTools, SeenToolsError } from './seen-tools.ts';
import { ServerFault } from './server-fault.ts';
import { type ServerPlace, startServerProcess } from './server-process.ts';
import { serverSecrets, shownPlace } from './server-secrets.ts';
import type { McpServerSettings } from './server-settings.ts';
import { ServerTools, type ServerToolsParts } from './server-tools.ts';
import type { SharedPins, SharedPinsPorts } from './shared-pins.ts';
import { StdioTransport } from './stdio-transport.ts';

export interface McpServersParts extends ServerPlace, Omit<ServerToolsParts, 'seen' | 'onChange'> {
  servers: readonly McpServerSettings[];
  egress: ServerEgress;
  version: string;
  /** Where several daemons share the accepted tools; absent for a single daemon. */
  pins?: SharedPinsPorts['records'];
  /** Where the agent's tokens for servers are stored; absent without a server that needs them. */
  tokens?: Omit<VaultPorts, 'clock'>;
  /** Replaced in tests by a deterministic function. */
  random?: () => number;
}

/** The MCP servers of an agent. */
export interface McpServers extends OperatedServers {
  /** Resolves once a connection to each server was attempted, or after some seconds. */
  tried(): Promise<void>;
  /** Subscribes to changes of the agent's MCP tools. */
  onChange(listener: () => void): void;
  /** Calls that servers continue as tasks. */
  readonly calls: RemoteCalls;
  /** Closes every connection and ends all server processes. */
  stop(): Promise<void>;
}

/** What servers share with other daemons. */
export interface SharedParts {
  /** Returns the access to a server by OAuth; `null` for a server without it. */
  authOf?: (server: McpServerSettings) => ServerAuth | null;
  /** The accepted tools of all daemons, loaded; `null` for a single daemon. */
  pins?: SharedPins | null;
}

/** Time that the agent's start-up waits for its servers, in milliseconds. */
const startPatience = 10_000;

/** Interval at which newly accepted tools are checked, in milliseconds. */
const acceptInterval = 1_000;

/**
 * Connects the MCP servers of an agent and adds their tools (docs/contract/models.md): those that the settings include,
 * whose names are free, and whose current definition a person has accepted. No behaviour of a server can crash the
 * daemon.
 */
export function connectMcpServers(
  parts: McpServersParts,
  { authOf = () => null, pins = null }: SharedParts = {},
): McpServers {
  const seen = new SeenTools(parts.agentDirectory);
  const listeners: (() => void)[] = [];
  const onChange = () => {
    for (const listener of listeners) listener();
  };
  const known = parts.servers.map((server) => {
    const tools = new ServerTools(server, {
      ...{ ...parts, seen, onChange },
      ...(pins === null ? {} : { onRecorded: (name, all) => void pins.publish(name, all) }),
    });
    const auth = authOf(server);
    const connection: McpConnection = new McpConnection({
      server: server.name,
      version: parts.version,
      asks: server.elicitation === 'ask',
      clock: parts.clock,
      log: parts.log,
      random: parts.random ?? Math.random,
      transport: () => transportOf(server, parts, auth),
      onOffer: (offer) => tools.take(offer, connection),
    });
    return { server, connection, tools, auth };
  });
  const named = (name: string) => known.find(({ server }) => server.name === name);
  const lookAgain = () => {
    for (const { tools, connection } of known) tools.lookAgain(connection);
  };
  if (known.length > 0) {
    watchFile(seen.path, { interval: acceptInterval, persistent: false }, lookAgain);
  }
  for (const { connection } of known) connection.start();
  pins?.start(lookAgain);
  return {
    async tried() {
      const late = AbortSignal.timeout(startPatience);
      await Promise.all(known.map(({ connection }) => connection.tried(late)));
    },
    onChange: (listener) => void listeners.push(listener),
    calls: {
      async follow(tool, remote, run) {
        const at = parts.servers.findIndex(({ name }) => tool.startsWith(mcpToolName(name, '')));
        const server = known[at];
        if (server === undefined) throw movedCall(tool);
        return server.tools.follow(tool, remote, run, server.connection);
      },
    },
    states: () =>
      known.map(({ server, connection, tools }) => ({
        ...connection.health,
        ...tools.figures,
        ...{ name: server.name, way: shownPlace(server), auth: server.auth?.type ?? null },
        tools: recordedTools(seen, server.name),
        withheld: tools.withheld,
      })),
    accept(server, { name, sha256 }, by) {
      const tool = seen.toolsOf(server)?.find((one) => one.name === name);
      if (named(server) === undefined || tool?.offered?.sha256 !== sha256) return false;
      seen.accept(server, [fingerprintOf(tool)], by ?? undefined);
      lookAgain();
      return true;
    },
    signIns(name) {
      const { auth = null, connection } = named(name) ?? {};
      if (auth === null || connection === undefined) return null;
      return {
        start: (redirectUri) => auth.startLogin(redirectUri),
        async finish(query) {
          const end = await auth.finishLogin(query);
          connection.retry();
          return end;
        },
        async end() {
          const hadTokens = await auth.logout();
          connection.drop(new ServerFault('was signed out'));
          connection.retry();
          return hadTokens;
        },
      };
    },
    async stop() {
      unwatchFile(seen.path, lookAgain);
      await Promise.all(known.map(({ connection }) => connection.close()));
      await pins?.stop();
    },
  };
}

/** Returns the recorded tools of a server; `null` without a record that can be read. */
function recordedTools(seen: SeenTools, server: string): SeenTool[] | null {
  try {
    return seen.toolsOf(server);
  } catch (error) {
    if (error instanceof SeenToolsError) return null;
    throw error;
  }
}

function transportOf(server: McpServerSettings, parts: McpServersParts, auth: ServerAuth | null) {
  return server.url === undefined
    ? new StdioTransport(() => startServerProcess(server, parts), {
        clock: parts.clock,
        secrets: serverSecrets(server),
      })
    : httpTransport(server, parts.egress, parts.clock, auth);
}
