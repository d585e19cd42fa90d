import type { ConnectionState } from '../../machines/channels/connection-machine.ts';
import type { JsonObject } from '../../machines/json.ts';

/** The state of a connection; times in epoch milliseconds. */
export interface ConnectionHealth {
  state: ConnectionState;
  /** `null` without a session. */
  since: number | null;
  /** The last fault, also of an earlier connection; `null` for none. */
  fault: { message: string; needsPerson: boolean; at: number } | null;
  /** The next attempt to connect; `null` while none is planned. */
  retryAt: number | null;
}

/** Figures of the calls of a server; times in milliseconds. */
export interface CallFigures {
  calls: number;
  failures: number;
  /** Time of all calls together. */
  total: number;
  /** Median of the latest calls; `null` without one. */
  median: number | null;
}

/** A version of a tool. */
export interface ToolDefinition {
  description: string;
  parameters: JsonObject;
  sha256: string;
}

/** A server as operators see it. */
export interface ServerState extends ConnectionHealth, CallFigures {
  name: string;
  /** Its address, or its program. */
  way: string;
  /** How the agent signs in; `null` without OAuth. */
  auth: 'client_credentials' | 'authorization_code' | null;
  /** The recorded tools; `null` if the server was never reached, or the record cannot be read. */
  tools: { name: string; accepted: ToolDefinition | null; offered: ToolDefinition | null }[] | null;
  /** Why other tools are not in use, by their names at the server. */
  withheld: ReadonlyMap<string, string>;
}

/** Sign-ins of an operator for the agent at one server. Each method rejects with a fault of code `mcp_server_failed`. */
export interface ServerSignIns {
  /** Returns the address that a person opens. */
  start(redirectUri: string): Promise<string>;
  finish(query: string): Promise<{ issuer: string }>;
  /** Returns whether there were tokens. */
  end(): Promise<boolean>;
}

/** The MCP servers of an agent as operators use them. */
export interface OperatedServers {
  /** Returns the servers with their health and tools. */
  states(): ServerState[];
  /** Accepts the version of a tool with a hash; returns false if the server offers another one, or none. */
  accept(server: string, tool: { name: string; sha256: string }, by: string | null): boolean;
  /** Returns the access to a server by OAuth; `null` for a server without it. */
  signIns(server: string): ServerSignIns | null;
}
