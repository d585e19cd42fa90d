import { z } from 'zod';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import { Heartbeats } from '../heartbeats.ts';
import { type AdmitPorts, admit } from '../middleware/admit.ts';
import { rpcRequest } from '../openapi/a2a-schemas.ts';
import { eventStream, holding, json, type Parameter } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import type { Routes } from '../routes/route.ts';
import { mcpInvocation } from '../wire/admission.ts';
import { fieldOf } from '../wire/field-of.ts';
import { rpcAnswer } from '../wire/json-rpc.ts';
import { Problem, refusal } from '../wire/problem.ts';
import type { McpFace } from './mcp-face.ts';
import { isMcpPoll, pollMethod } from './mcp-path.ts';
import { readMcpBody } from './read-mcp-body.ts';
import type { ServeMessage } from './serve-mcp.ts';
import { offersTaskResult } from './task-result-tool.ts';
import { WaitingClients } from './waiting-clients.ts';

/** The dependencies of the MCP endpoint. */
export interface McpPorts {
  mcp: McpFace | null;
  ids: Ids;
  log: Log;
  clock: Clock;
  onDisconnect: 'abandon' | 'keep';
}

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

/** The routes of the MCP endpoint. */
export function mcpRoutes(face: McpFace, ports: McpPorts & AdmitPorts): Routes {
  const answer = mcpAnswer(face, ports);
  const invocation = (body: unknown) => mcpInvocation(body, offersTaskResult(face));
  return {
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
      before: [readMcpBody(), admit(ports, invocation)],
      answer,
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
      answer,
    },
    'DELETE /mcp': {
      id: 'endMcpSession',
      tag: 'mcp',
      says: 'Ends a session.',
      parameters: [session],
      answers: { 200: { says: 'It has ended.' }, 400: malformed, 403: foreign, 404: noSession },
      answer,
    },
  };
}

/** Milliseconds between two progress notifications. Many clients time out after a minute. */
const progressEvery = 10_000;

/** Purpose of the key that signs session IDs. */
const keyPurpose = 'mcp sessions';

/** Maximum length of a message ID in characters; it stays in memory for the duration of the call. */
const longestId = 256;

/** Provides the agent's tools to MCP clients (docs/contract/models.md). */
function mcpAnswer(face: McpFace, ports: McpPorts) {
  const beats = new Heartbeats(ports.clock, progressEvery);
  let serving: Promise<ServeMessage> | null = null;
  const open = async (): Promise<ServeMessage> => {
    const key = await face.key(keyPurpose);
    const callPorts = { ...ports, beats, waiting: new WaitingClients() };
    const { serveMcp } = await import('./serve-mcp.ts');
    return serveMcp(face, callPorts, key);
  };
  return async function mcp(ctx: RoutedContext) {
    // Loaded for the first client. If the store cannot be read, the next request retries.
    serving ??= open().catch((error: unknown) => {
      serving = null;
      throw error;
    });
    await face.ready();
    const answer = await serving;
    await answer(ctx, ctx.method === 'POST' ? readMessage(ctx) : null);
  };
}

function readMessage(ctx: RoutedContext): object {
  const { body } = ctx.request as { body?: unknown };
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('invalid_body', 'send one JSON-RPC message as the body');
  }
  if (isMcpPoll(ctx) && fieldOf(body, 'method') !== pollMethod) {
    const error = `the header Mcp-Method says ${pollMethod}; send the method of the message`;
    throw new Problem('invalid_header', error);
  }
  const id = fieldOf(body, 'id');
  if (typeof id === 'string' && id.length > longestId) {
    const error = `the id of a JSON-RPC message has at most ${longestId} characters`;
    throw new Problem('invalid_body', error);
  }
  return body;
}
