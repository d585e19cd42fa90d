import { z } from 'zod';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { OperatedServers, ServerSignIns } from '../../actors/ports/mcp-servers.ts';
import { codeOf } from '../../machines/error-code.ts';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import { isLoopback } from '../../machines/loopback.ts';
import { messageOf } from '../../machines/message-of.ts';
import { holding, json } from '../openapi/operation.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import {
  loginEvent,
  loginQuery,
  loginRequest,
  logoutEvent,
  mcpServerList,
  presentServer,
  type ServerEvent,
  toolAcceptance,
} from '../wire/mcp-server.ts';
import { Problem, refusal } from '../wire/problem.ts';
import type { Routes } from './route.ts';

export interface McpServerPorts {
  /** The MCP servers of the agent; absent without one. */
  mcpServers?: OperatedServers;
  /** Writes a line of the daemon to the audit log. */
  record: (event: AuditEvent) => Promise<void>;
}

type Servers = NonNullable<McpServerPorts['mcpServers']>;

const foreign = holding('A page of a stranger sent it.', refusal);
const noServer = holding('There is no MCP server of this name.', refusal);

const loginFaults = {
  403: foreign,
  404: noServer,
  409: holding('The server has no auth.', refusal),
  502: holding('The server or its issuer refuses.', refusal),
};

/** The routes of the operator for the agent's MCP servers. */
export const mcpServerRoutes = (servers: Servers, record: RecordOf): Routes => ({
  'GET /mcp-servers': {
    id: 'listMcpServers',
    tag: 'mcp',
    says: 'Lists the MCP servers of the agent with their health and tools; for the token of the daemon.',
    answers: { 200: holding('The servers.', mcpServerList), 403: foreign },
    answer: mcpServersList(servers),
  },
  'POST /mcp-servers/:name/accept': {
    id: 'acceptMcpTool',
    tag: 'mcp',
    says: 'Accepts the version of a tool with this digest; for the token of the daemon.',
    body: {
      schema: toolAcceptance,
      types: [json],
      example: { tool: 'refund', sha256: 'a'.repeat(64) },
    },
    answers: {
      200: holding('The version is accepted.', toolAcceptance.extend({ server: z.string() })),
      403: foreign,
      404: noServer,
      409: holding('The server offers another version.', refusal),
    },
    answer: mcpToolsAccept(servers),
  },
  'POST /mcp-servers/:name/login': {
    id: 'startMcpLogin',
    tag: 'mcp',
    says: 'Starts a sign-in at the issuer of a server; for the token of the daemon.',
    body: {
      schema: loginRequest,
      types: [json],
      example: { redirect_uri: 'http://127.0.0.1:8976/callback' },
    },
    answers: {
      200: holding('The address that a person opens.', z.object({ url: z.url() })),
      ...loginFaults,
    },
    answer: mcpLoginStart(servers),
  },
  'POST /mcp-servers/:name/login/finish': {
    id: 'finishMcpLogin',
    tag: 'mcp',
    says: 'Ends a sign-in with the query of its redirect; for the token of the daemon.',
    body: { schema: loginQuery, types: [json], example: { query: 'code=abc&state=def' } },
    answers: {
      200: holding('The agent has tokens.', z.object({ server: z.string(), issuer: z.string() })),
      ...loginFaults,
    },
    answer: mcpLoginFinish(servers, record),
  },
  'POST /mcp-servers/:name/logout': {
    id: 'endMcpLogin',
    tag: 'mcp',
    says: 'Deletes the tokens for a server; for the token of the daemon.',
    body: { schema: z.object({}), types: [json], example: {} },
    answers: {
      200: holding(
        'The agent has no tokens.',
        z.object({ server: z.string(), had_tokens: z.boolean() }),
      ),
      ...loginFaults,
    },
    answer: mcpLogout(servers, record),
  },
});

function mcpServersList(servers: Servers) {
  return function list(ctx: RoutedContext) {
    checkOperator(ctx);
    ctx.body = { servers: servers.states().map(presentServer) };
  };
}

function mcpToolsAccept(servers: Servers) {
  return function accept(ctx: RoutedContext) {
    checkOperator(ctx);
    const { tool, sha256, by = null } = bodyOf(ctx, toolAcceptance);
    const name = nameOf(ctx, servers);
    if (servers.accept(name, { name: tool, sha256 }, by)) {
      ctx.body = { server: name, tool, sha256 };
      return;
    }
    const error = `${name} does not offer this version of the tool any more; look at it again`;
    throw new Problem('tool_changed', error);
  };
}

function mcpLoginStart(servers: Servers) {
  return async function start(ctx: RoutedContext) {
    checkOperator(ctx);
    const { redirect_uri: redirectUri } = bodyOf(ctx, loginRequest);
    const url = URL.parse(redirectUri);
    if (url?.protocol !== 'http:' || !isLoopback(url.hostname)) {
      const error = 'redirect_uri must be an http URL on loopback, such as http://127.0.0.1:8976/';
      throw new Problem('invalid_body', error);
    }
    const signIns = signInsOf(ctx, servers);
    ctx.body = { url: await faultsAsProblems(ctx, () => signIns.start(redirectUri)) };
  };
}

function mcpLoginFinish(servers: Servers, record: RecordOf) {
  return async function finish(ctx: RoutedContext) {
    checkOperator(ctx);
    const { query } = bodyOf(ctx, loginQuery);
    const signIns = signInsOf(ctx, servers);
    const { issuer } = await faultsAsProblems(ctx, () => signIns.finish(query));
    const server = nameOf(ctx, servers);
    await record(ctx.state, loginEvent(server, issuer));
    ctx.body = { server, issuer };
  };
}

function mcpLogout(servers: Servers, record: RecordOf) {
  return async function end(ctx: RoutedContext) {
    checkOperator(ctx);
    const signIns = signInsOf(ctx, servers);
    const had = await faultsAsProblems(ctx, () => signIns.end());
    const server = nameOf(ctx, servers);
    if (had) await record(ctx.state, logoutEvent(server));
    ctx.body = { server, had_tokens: had };
  };
}

/** Records an event of a request. */
export type RecordOf = (state: RequestState, event: ServerEvent) => Promise<void>;

function checkOperator({ state }: RoutedContext): void {
  if (state.caller?.provider === runtimeProvider) return;
  const error = "only the daemon's own token reaches its servers; it is in .service/runtime.token";
  throw new Problem('daemon_token_required', error);
}

function nameOf({ params }: RoutedContext, servers: Servers): string {
  const { name = '' } = params;
  if (servers.states().some((server) => server.name === name)) return name;
  throw new Problem('mcp_server_not_found', 'there is no MCP server of this name');
}

function signInsOf(ctx: RoutedContext, servers: Servers): ServerSignIns {
  const name = nameOf(ctx, servers);
  const signIns = servers.signIns(name);
  if (signIns !== null) return signIns;
  throw new Problem('mcp_auth_missing', `${name} has no auth in service.yaml; add it first`);
}

function bodyOf<Schema extends z.ZodType>(ctx: RoutedContext, schema: Schema): z.infer<Schema> {
  const { data, error } = schema.safeParse(ctx.request.body);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  const at = issue === undefined ? 'the body' : issue.path.join('.') || 'the body';
  throw new Problem('invalid_body', `${at}: ${issue?.message ?? 'is not valid'}`);
}

/** A fault of a server names what is wrong, and neither a token nor a secret. */
async function faultsAsProblems<Result>(
  ctx: RoutedContext,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (codeOf(error) !== 'mcp_server_failed') throw error;
    throw new Problem('mcp_server_failed', `${ctx.params['name']} ${messageOf(error)}`);
  }
}
