import { z } from 'zod';
import { acsAnswer, acsRequest } from '../wire/acs.ts';
import { decided, decision, decisionConflict, noDecision } from '../wire/decision.ts';
import { hold, holdOutcome, holdRequest } from '../wire/hold.ts';
import { refusal } from '../wire/problem.ts';
import {
  type Answer,
  eventStream,
  holding,
  json,
  type Operation,
  type Parameter,
} from './operation.ts';

/** The responses to a decision. */
export const decisionResponses: Readonly<Record<number, Answer>> = {
  200: holding('The decision is on disk.', decided),
  400: holding('The body holds no decision.', refusal, {
    example: { error: noDecision, code: 'invalid_body' },
  }),
  403: holding('The approver may not decide; the call still waits.', refusal, {
    example: { error: 'approver not authorized', code: 'approver_not_authorized' },
  }),
  404: holding('Nothing waits.', refusal, {
    example: { error: 'no pending deferral for task', code: 'deferral_not_found' },
  }),
  409: holding('Already decided, or the pinned deferral or digest differs.', decisionConflict),
};

const form = 'sentence';

const noHold = holding('The caller has no hold of this id.', refusal, {
  example: { error: 'hold not found', code: 'hold_not_found' },
});

const wait: Parameter = {
  name: 'wait',
  in: 'query',
  says: 'Seconds to wait for a decision, at most 60.',
  schema: z.int().min(0),
};

const claimed: Parameter = {
  name: 'claim',
  in: 'query',
  says: 'Identifies the process that asks. The process that released the call gets released: false again.',
  schema: z.string().max(128),
};

const position: Parameter = {
  name: 'position',
  in: 'query',
  says: 'Identifies a call whose event has no call id, such as the length of the transcript.',
  schema: z.string().max(256),
};

const hookEvent = z
  .record(z.string(), z.unknown())
  .meta({ id: 'HookEvent', description: 'An event or answer in the form of a coding agent.' });

const exampleEvent = {
  hook_event_name: 'PreToolUse',
  session_id: 's-1',
  tool_use_id: 'toolu_01',
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf build' },
};

const exampleHold = {
  key: 's-1:toolu_01',
  tool: 'Bash',
  args: { command: 'rm -rf build' },
  agent: 'claude-code',
  session: 's-1',
};

const exampleStep = {
  jsonrpc: '2.0',
  id: 1,
  method: 'steps/toolCallRequest',
  params: {
    acs_version: '0.1.0',
    request_id: '0d3f2c1a-5b6e-4f70-8a9b-1c2d3e4f5a6b',
    timestamp: '2026-11-26T10:00:00Z',
    metadata: { agent_id: 'coder', session_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' },
    payload: { tool: { name: 'Bash' }, arguments: { command: { value: 'rm -rf build' } } },
    signature: { algorithm: 'HMAC-SHA256', value: 'kQ…=', key_id: 'default' },
  },
};

/** Descriptions of the routes of a gate, by verb and path. */
export const holdOperations: Readonly<Record<string, Operation>> = {
  'POST /holds': {
    id: 'askHold',
    tag: 'holds',
    says: 'Asks for a call that the caller runs itself. With the header Prefer: wait=N the request waits up to N seconds for a decision, at most 60.',
    body: { schema: holdRequest, types: [json], example: exampleHold },
    answers: {
      200: holding('The decision. The first answer with an approved call releases it.', hold),
      202: holding('The call waits for a person.', hold, {
        headers: { Location: 'The hold.', 'Retry-After': 'Seconds until the next request.' },
      }),
      400: holding('The body is malformed; the error says where.', refusal),
      409: holding('The key belongs to a hold of another call.', refusal),
      429: holding('Too many calls of the caller wait.', refusal),
    },
    form,
    isAdmitted: true,
  },
  'GET /holds/:id': {
    id: 'getHold',
    tag: 'holds',
    says: 'Shows a hold of the caller. With Accept: text/event-stream it streams status while the call waits, then result, which releases an approved call, or refused.',
    parameters: [wait, claimed],
    answers: {
      200: {
        says: 'The decision, or events until there is one.',
        content: { [json]: hold, [eventStream]: null },
        events: { status: hold, result: hold, refused: refusal },
      },
      202: holding('The call waits for a person.', hold),
      400: holding('wait is not a number, or claim is malformed.', refusal),
      404: noHold,
    },
    form,
  },
  'POST /holds/:id/outcome': {
    id: 'reportOutcome',
    tag: 'holds',
    says: 'Reports the end of a call that the caller ran. Only the first outcome counts.',
    body: { schema: holdOutcome, types: [json], example: { status: 'succeeded' } },
    answers: {
      200: holding('The hold with its outcome.', hold),
      400: holding('The body is malformed; the error says where.', refusal),
      404: noHold,
      409: holding('The call may not run, or the hold has another outcome.', refusal),
    },
    form,
  },
  'POST /holds/:id/decisions': {
    id: 'decideHold',
    tag: 'holds',
    says: 'Approves or rejects the call of a hold, as POST /tasks/{id}/decisions does.',
    body: { schema: decision, types: [json], example: { decision: 'approve' } },
    answers: decisionResponses,
    form,
  },
  'POST /hooks/:dialect': {
    id: 'answerHook',
    tag: 'holds',
    says: 'Answers the hook of a coding agent: claude-code, codex, cursor, copilot or opencode. The request waits for a decision; a refusal is a denial in the form of the host.',
    parameters: [position],
    body: { schema: hookEvent, types: [json], example: exampleEvent },
    answers: {
      200: holding('The decision in the form of the host.', hookEvent),
      202: holding('With Prefer: respond-async, the call waits for a person.', hold, {
        headers: { 'Retry-After': 'Seconds until the next request.' },
      }),
      400: holding('With Prefer: respond-async, the event cannot be decided.', refusal),
      404: holding('The coding agent is unknown.', refusal),
      409: holding('With Prefer: respond-async, the call id belongs to another call.', refusal),
      429: holding('With Prefer: respond-async, too many calls of the caller wait.', refusal),
    },
    form,
    isAdmitted: true,
  },
  'POST /acs': {
    id: 'sendAcsRequest',
    tag: 'holds',
    says: 'Receives one request of the Agent Control Standard 0.1.0; its signature is the authentication. A call that a rule holds waits for a person within the timeout of the handshake.',
    body: { schema: acsRequest, types: [json], example: exampleStep },
    answers: {
      200: holding('The signed decision, or an error.', acsAnswer),
      413: holding('The request is too long.', acsAnswer),
    },
    form: 'rpc',
    isPublic: true,
  },
  'DELETE /holds/:id': {
    id: 'cancelHold',
    tag: 'holds',
    says: 'Cancels a hold that waits; a decided one stays as it is.',
    answers: { 200: holding('The hold.', hold), 404: noHold },
    form,
  },
};
