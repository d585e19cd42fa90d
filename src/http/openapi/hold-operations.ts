import { z } from 'zod';
import { decided, decision, decisionConflict, noDecision } from '../wire/decision.ts';
import { hold, holdOutcome, holdRequest } from '../wire/hold.ts';
import { refusal } from '../wire/problem.ts';
import { type Answer, holding, json, type Operation, type Parameter } from './operation.ts';

/** The responses to a decision. */
export const decisionResponses: Readonly<Record<number, Answer>> = {
  200: holding('The decision is on disk.', decided),
  400: holding('The body holds no decision.', refusal, {
    example: { error: noDecision },
  }),
  403: holding('The approver may not decide; the call still waits.', refusal, {
    example: { error: 'approver not authorized' },
  }),
  404: holding('Nothing waits.', refusal, {
    example: { error: 'no pending deferral for task' },
  }),
  409: holding('Already decided, or the pinned deferral or digest differs.', decisionConflict),
};

const form = 'sentence';

const noHold = holding('The caller has no hold of this id.', refusal, {
  example: { error: 'hold not found' },
});

const wait: Parameter = {
  name: 'wait',
  in: 'query',
  says: 'Seconds to wait for a decision, at most 60.',
  schema: z.int().min(0),
};

const exampleHold = {
  key: 's-1:toolu_01',
  tool: 'Bash',
  args: { command: 'rm -rf build' },
  agent: 'claude-code',
  session: 's-1',
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
    says: 'Shows a hold of the caller.',
    parameters: [wait],
    answers: {
      200: holding('The decision.', hold),
      202: holding('The call waits for a person.', hold),
      400: holding('wait is not a number.', refusal),
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
  'DELETE /holds/:id': {
    id: 'cancelHold',
    tag: 'holds',
    says: 'Cancels a hold that waits; a decided one stays as it is.',
    answers: { 200: holding('The hold.', hold), 404: noHold },
    form,
  },
};
