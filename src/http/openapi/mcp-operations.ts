import { z } from 'zod';
import { rpcAnswer } from '../wire/json-rpc.ts';
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
};
