import { z } from 'zod';
import type { ServerState, ToolDefinition } from '../../actors/ports/mcp-servers.ts';
import { digest } from './deferral.ts';
import { time, timestamp } from './timestamp.ts';

const definition = z.object({
  description: z.string(),
  parameters: z
    .record(z.string(), z.unknown())
    .describe('JSON Schema of the arguments, of a tool that is to be accepted.')
    .exactOptional(),
  sha256: digest.describe('Digest of the definition as the server sent it.'),
});

const serverTool = z
  .object({
    name: z.string().describe('Its name at the server.'),
    standing: z.enum(['accepted', 'changed', 'new', 'gone', 'left_out']),
    why: z.string().describe('Why it is not in use, although it is accepted.').exactOptional(),
    accepted: definition.nullable(),
    offered: definition.nullable(),
  })
  .meta({ id: 'McpServerTool' });

export const mcpServer = z
  .object({
    name: z.string(),
    address: z.string().describe('The URL or the program of the server.'),
    state: z.enum(['connected', 'connecting', 'pausing', 'failed']),
    since: time.describe('When it was connected.').nullable(),
    error: z
      .object({
        message: z.string().describe('The suffix after the name of the server.'),
        at: time,
        needs_person: z.boolean(),
      })
      .describe('The last fault, also of an earlier connection.')
      .nullable(),
    retry_at: time.describe('The next attempt to connect.').nullable(),
    auth: z.enum(['client_credentials', 'authorization_code']).nullable(),
    calls: z.object({
      count: z.int(),
      failed: z.int(),
      median_ms: z.number().nullable(),
    }),
    tools: z.array(serverTool).nullable(),
  })
  .meta({ id: 'McpServer' });

export const mcpServerList = z
  .object({ servers: z.array(mcpServer) })
  .meta({ id: 'McpServerList' });

export const toolAcceptance = z
  .strictObject({
    tool: z.string().max(200),
    sha256: digest.describe('The offered version that the person has seen.'),
    by: z.string().max(320).describe('The person who accepts it.').exactOptional(),
  })
  .meta({ id: 'McpToolAcceptance' });

export const loginRequest = z
  .strictObject({ redirect_uri: z.string().max(200) })
  .meta({ id: 'McpLoginRequest' });

export const loginQuery = z
  .strictObject({ query: z.string().max(8_192).describe('The query of the redirect.') })
  .meta({ id: 'McpLoginQuery' });

const states: Record<string, z.infer<typeof mcpServer>['state']> = {
  connected: 'connected',
  connecting: 'connecting',
  draining: 'connected',
  backoff: 'pausing',
};

/** Formats a server for operators. */
export function presentServer(server: ServerState): z.input<typeof mcpServer> {
  const { name, way, state, since, fault, retryAt, auth, calls, failures, median } = server;
  const { tools, withheld } = server;
  const known = new Set((tools ?? []).map((tool) => tool.name));
  const leftOut = [...withheld].filter(([tool]) => !known.has(tool));
  return {
    ...{ name, address: way, state: states[state] ?? 'failed' },
    since: since === null ? null : timestamp(since),
    error: fault && {
      ...{ message: fault.message, at: timestamp(fault.at), needs_person: fault.needsPerson },
    },
    retry_at: retryAt === null ? null : timestamp(retryAt),
    auth,
    calls: {
      count: calls,
      failed: failures,
      median_ms: median === null ? null : Math.round(median),
    },
    tools: tools && [
      ...tools.map((tool) => presentTool(tool, withheld.get(tool.name))),
      ...leftOut.map(([tool, why]) => {
        const standing = 'left_out' as const;
        return { name: tool, standing, why, accepted: null, offered: null };
      }),
    ],
  };
}

function presentTool(
  { name, accepted, offered }: NonNullable<ServerState['tools']>[number],
  why: string | undefined,
): z.input<typeof serverTool> {
  const standing = offered === null ? 'gone' : standingOf(accepted, offered);
  const isWhole = standing === 'new' || standing === 'changed';
  return {
    ...{ name, standing, accepted: shown(accepted, isWhole), offered: shown(offered, isWhole) },
    ...(why === undefined ? {} : { why }),
  };
}

function standingOf(
  accepted: { sha256: string } | null,
  offered: { sha256: string },
): 'accepted' | 'changed' | 'new' {
  if (accepted === null) return 'new';
  return accepted.sha256 === offered.sha256 ? 'accepted' : 'changed';
}

function shown(one: ToolDefinition | null, isWhole: boolean): z.input<typeof definition> | null {
  if (one === null) return null;
  const { description, parameters, sha256 } = one;
  return { description, sha256, ...(isWhole ? { parameters: { ...parameters } } : {}) };
}

/** An event of the audit log about the access to a server. */
export interface ServerEvent {
  event: string;
  fields: Record<string, string>;
}

/** Returns the event of an operator's sign-in at the issuer of a server. */
export function loginEvent(server: string, issuer: string): ServerEvent {
  return { event: 'mcp_login', fields: { server, issuer } };
}

/** Returns the event of the deletion of the tokens for a server. */
export function logoutEvent(server: string): ServerEvent {
  return { event: 'mcp_logout', fields: { server } };
}
