import { z } from 'zod';
import { rpcAnswer } from '../wire/json-rpc.ts';
import { loginQuery, loginRequest, mcpServerList, toolAcceptance } from '../wire/mcp-server.ts';
import { refusal } from '../wire/problem.ts';
import { resourceMetadata } from '../wire/protected-resource.ts';
import { rpcRequest } from './a2a-schemas.ts';
import { eventStream, holding, json, type Operation, type Parameter } from './operation.ts';

const session: Parameter = {
  name: 'Mcp-Session-Id',
  in: 'header',
  says: 'The session that initialize was answered with; absent from 2026-07-28 on.',
  schema: z.string(),
};

const version: Parameter = {
  name: 'MCP-Protocol-Version',
  in: 'header',
  says: 'The version of MCP; required from 2026-07-28 on.',
  schema: z.string(),
};

const routing: readonly Parameter[] = ['Mcp-Method', 'Mcp-Name'].map((name) => ({
  ...{ name, in: 'header' },
  says: 'As in the body; required from 2026-07-28 on.',
  schema: z.string(),
}));

const noSession = holding('The session is not there for the caller.', refusal);
const malformed = holding('The message or its session is invalid.', refusal);
const foreign = holding('A page of a stranger sent it.', refusal);

const noServer = holding('There is no MCP server of this name.', refusal);

const loginFaults = {
  403: foreign,
  404: noServer,
  409: holding('The server has no auth.', refusal),
  502: holding('The server or its issuer refuses.', refusal),
};

/** Descriptions of the routes for MCP clients, by verb and path. */
export const mcpOperations: Readonly<Record<string, Operation>> = {
  'POST /mcp': {
    id: 'sendMcpMessage',
    tag: 'mcp',
    says: 'Receives one message of an MCP client over streamable HTTP; each tools/call is a task of one call.',
    parameters: [session, version, ...routing],
    body: {
      schema: rpcRequest,
      types: [json],
      example: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'issue_refund', arguments: { order: 'A-1042' } },
      },
    },
    answers: {
      200: {
        says: 'The answer, or progress and the answer as events.',
        content: { [eventStream]: rpcAnswer, [json]: rpcAnswer },
      },
      202: { says: 'The notification was accepted.' },
      400: malformed,
      403: foreign,
      404: noSession,
    },
    form: 'sentence',
  },
  'GET /mcp': {
    id: 'followMcpSession',
    tag: 'mcp',
    says: 'Streams messages of the agent to a session, in addition to its answers.',
    parameters: [session],
    answers: {
      200: { says: 'Events.', content: { [eventStream]: null } },
      400: malformed,
      403: foreign,
      404: noSession,
    },
    form: 'sentence',
  },
  'DELETE /mcp': {
    id: 'endMcpSession',
    tag: 'mcp',
    says: 'Ends a session.',
    parameters: [session],
    answers: { 200: { says: 'It has ended.' }, 400: malformed, 403: foreign, 404: noSession },
    form: 'sentence',
  },
  'GET /.well-known/oauth-protected-resource/mcp': {
    id: 'getMcpResource',
    tag: 'mcp',
    says: 'Names the issuers whose tokens the MCP endpoint accepts (RFC 9728).',
    answers: { 200: holding('The metadata.', resourceMetadata) },
    form: 'sentence',
    isPublic: true,
  },
  'GET /.well-known/oauth-protected-resource': {
    id: 'getResource',
    tag: 'mcp',
    says: 'Shows the same metadata at the root form of its path.',
    answers: { 200: holding('The metadata.', resourceMetadata) },
    form: 'sentence',
    isPublic: true,
  },
  'GET /mcp-servers': {
    id: 'listMcpServers',
    tag: 'mcp',
    says: 'Lists the MCP servers of the agent with their health and tools; for the token of the daemon.',
    answers: { 200: holding('The servers.', mcpServerList), 403: foreign },
    form: 'sentence',
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
    form: 'sentence',
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
    form: 'sentence',
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
    form: 'sentence',
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
    form: 'sentence',
  },
};
