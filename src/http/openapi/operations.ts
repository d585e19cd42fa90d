import { z } from 'zod';
import { taskStates } from '../../machines/domain/task.ts';
import { receiptType } from '../routes/receipts.ts';
import { cancel } from '../wire/cancel-reason.ts';
import { decidedPage } from '../wire/decided-call.ts';
import { decision, decisionAnswers, decisionList } from '../wire/decision.ts';
import { deferralDetail, deferralEvent, deferralPage } from '../wire/deferral.ts';
import { delegation, delegationList, delegationRequest } from '../wire/delegation.ts';
import { grant, grantList } from '../wire/grant.ts';
import { inspection } from '../wire/inspection.ts';
import { rpcAnswer } from '../wire/json-rpc.ts';
import { policyReloaded, policyUnusable } from '../wire/policy-reload.ts';
import { refusal } from '../wire/problem.ts';
import { progress } from '../wire/progress.ts';
import { session, sessionPage } from '../wire/session.ts';
import { task, taskPage } from '../wire/task.ts';
import { send } from '../wire/task-request.ts';
import { taskRow } from '../wire/task-row.ts';
import { agentCard, rpcRequest } from './a2a-schemas.ts';
import { decisionResponses } from './hold-operations.ts';
import { eventStream, holding, json, type Operation, type Parameter } from './operation.ts';

const query = (name: string, says: string, schema: z.ZodType): Parameter => ({
  name,
  in: 'query',
  says,
  schema,
});

const page = [
  query('limit', 'Entries of a page (default 50).', z.int().min(1).max(500)),
  query('cursor', 'The next_cursor of the page before.', z.string()),
];

const deadlineOrder = query(
  'order',
  'The order: newest first by default, first deadline first with `deadline`.',
  z.enum(['deadline']),
);

const decidedBy = query(
  'decided_by',
  'With `me` the tasks with decisions of the caller, newest first; a page has the decisions of `limit` tasks.',
  z.enum(['me']),
);

const sent = {
  schema: send,
  types: [json],
  example: { task: { message: { parts: [{ kind: 'text', text: 'Refund A-1042' }] } } },
};

const badBody = holding('The body is malformed; the error says where.', refusal, {
  example: { error: 'task.message.parts must be a list of parts', code: 'invalid_body' },
});
const badQuery = holding('A parameter is not what it should be.', refusal);
const noTask = holding('No task of this id is there for the caller.', refusal, {
  example: { error: 'task not found', code: 'task_not_found' },
});
const busy = holding('The task is still running.', refusal);
const theTask = holding('The stored task.', task);

const events = {
  says: 'Events: status with the task after each change, progress between them, and result with the final task at the end.',
  content: { [eventStream]: null },
  events: { status: task, progress, result: task },
};

const card = {
  ...holding('The card.', agentCard, {
    headers: { ETag: 'The same for equal bytes.', Vary: 'A2A-Version, among others.' },
  }),
};
const unchanged = { says: 'The caller has these bytes already.' };

const version: Parameter = {
  name: 'A2A-Version',
  in: 'header',
  says: 'The version of A2A that the caller speaks, such as 1.0.',
  schema: z.string(),
};

const lastEventId: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  says: 'The id of the last event that was seen.',
  schema: z.string(),
};

const health = z.object({ status: z.string() }).meta({ id: 'Health' });

const auditKeys = z
  .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
  .meta({ id: 'AuditKeys' });

const form = 'sentence';

/** Descriptions of the routes outside A2A's HTTP+JSON, by verb and path. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /tasks/send': {
    id: 'sendTask',
    tag: 'tasks',
    says: 'Starts a task and answers with it once it is final; the request stays open while it waits for a person.',
    body: sent,
    answers: {
      200: holding('The final task, including a failed one.', task, {
        headers: {
          'X-Service-Tokens-In':
            "Input tokens of the task's models; absent if no model was called.",
          'X-Service-Tokens-Out': "Output tokens of the task's models.",
          'X-Service-Model': 'The model that spoke last.',
          'X-Service-Duration-Ms': 'Milliseconds of their turns.',
        },
      }),
      400: badBody,
      404: noTask,
      409: busy,
    },
    form,
    isAdmitted: true,
  },
  'POST /tasks/sendSubscribe': {
    id: 'streamTask',
    tag: 'tasks',
    says: 'Starts a task and streams it.',
    body: sent,
    answers: { 200: events, 400: badBody, 404: noTask, 409: busy },
    form,
    isAdmitted: true,
  },
  'GET /tasks/:id': {
    id: 'getTask',
    tag: 'tasks',
    says: 'Shows a task.',
    parameters: [
      query('historyLength', 'How many of the latest messages to show.', z.int().min(0)),
      query('decisions', 'Adds what each layer of governance said.', z.boolean()),
      query(
        'history',
        'Adds the states of its chart that the task has entered, and where it comes from.',
        z.literal('states'),
      ),
    ],
    answers: { 200: theTask, 400: badQuery, 404: noTask },
    form,
  },
  'GET /tasks/:id/inspection': {
    id: 'inspectTask',
    tag: 'tasks',
    says: 'Returns the path of a task through its chart in the format of the Stately inspector, redacted.',
    answers: {
      200: holding('The events, oldest first.', inspection),
      404: noTask,
      409: holding('The inspector of the agent is off.', refusal),
    },
    form,
  },
  'GET /tasks/:id/calls/:call_id/receipt': {
    id: 'getReceipt',
    tag: 'tasks',
    says: 'Returns a signed receipt of a call: what was asked, who decided, what ran, and its lines of the log.',
    answers: {
      200: {
        says: 'The receipt: a compact JWS (EdDSA) with a key of /.well-known/audit-keys.json.',
        content: { [receiptType]: null },
      },
      404: holding('The task or the call is not there for the caller.', refusal),
      409: holding('The call has not ended, or the agent does not sign its log.', refusal),
    },
    form,
  },
  'GET /tasks': {
    id: 'listTasks',
    tag: 'tasks',
    says: 'Lists tasks, newest first.',
    parameters: [
      query('state', 'Tasks in this state alone.', z.enum(taskStates)),
      query(
        'include',
        'Adds history and artifacts, where each task comes from, or both, with a comma.',
        z.enum(['artifacts', 'origin', 'artifacts,origin']),
      ),
      query('from', 'Tasks that were created at this time or later; see `to`.', z.string()),
      query(
        'to',
        'Tasks that were created at this time or earlier: in RFC 3339, or a duration such as `7d`, that long before now.',
        z.string(),
      ),
      ...page,
    ],
    answers: { 200: holding('One page.', taskPage), 400: badQuery },
    form,
  },
  'GET /tasks/:id/events': {
    id: 'followTask',
    tag: 'tasks',
    says: 'Joins the stream of a task.',
    parameters: [lastEventId],
    answers: { 200: events, 404: noTask },
    form,
  },
  'GET /events': {
    id: 'followTasks',
    tag: 'tasks',
    says: 'Streams every change of the tasks that the caller can read.',
    parameters: [lastEventId],
    answers: {
      200: {
        says: 'Events: task with a task in one line, deferral with a call that waits, or with null when it waits no more, and reset when the lists have to be read anew.',
        content: { [eventStream]: null },
        events: { task: taskRow, deferral: deferralEvent },
      },
    },
    form,
  },
  'POST /tasks/:id/cancel': {
    id: 'cancelTask',
    tag: 'tasks',
    says: 'Cancels a task; a final task is returned unchanged.',
    body: {
      schema: cancel,
      types: [json],
      example: { reason: 'cost_limit_exceeded' },
      isOptional: true,
    },
    answers: { 200: theTask, 400: badBody, 404: noTask },
    form,
  },
  'POST /tasks/:id/decisions': {
    id: 'decide',
    tag: 'approvals',
    says: 'Releases or refuses the call that a task waits with; of any number of decisions one counts.',
    body: {
      schema: decision,
      types: [json],
      example: { decision: 'approve', approver_email: 'ann@example.com', note: 'checked' },
    },
    answers: decisionResponses,
    form,
  },
  'GET /deferrals': {
    id: 'listDeferrals',
    tag: 'approvals',
    says: 'Lists pending deferrals, newest first or by deadline, with their total, or those that the caller decided.',
    parameters: [...page, deadlineOrder, decidedBy],
    answers: {
      200: holding('One page.', z.union([deferralPage, decidedPage])),
      400: badQuery,
    },
    form,
  },
  'POST /deferrals/decisions': {
    id: 'decideEach',
    tag: 'approvals',
    says: 'Submits up to 100 decisions, each as if it were sent alone; an approval needs deferral_id and args_sha256.',
    body: {
      schema: decisionList,
      types: [json],
      example: {
        decisions: [{ task_id: 'refund-1', decision: 'reject', note: 'no receipt' }],
      },
    },
    answers: {
      200: holding('One answer for each decision.', decisionAnswers),
      400: badBody,
    },
    form,
  },
  'GET /deferrals/:id': {
    id: 'getDeferral',
    tag: 'approvals',
    says: 'Shows one call that waits, with the arguments that would run.',
    answers: {
      200: holding('The call.', deferralDetail),
      404: holding('No pending deferral with this id.', refusal),
    },
    form,
  },
  'GET /sessions': {
    id: 'listSessions',
    tag: 'tasks',
    says: 'Lists the sessions of the caller, the one that changed last first: the tasks of one contextId.',
    parameters: page,
    answers: { 200: holding('One page.', sessionPage), 400: badQuery },
    form,
  },
  'GET /sessions/:id': {
    id: 'getSession',
    tag: 'tasks',
    says: 'Shows the messages of one session of the caller.',
    answers: {
      200: holding('The session.', session),
      404: holding('The caller has no session with this id.', refusal),
    },
    form,
  },
  'GET /grants': {
    id: 'listGrants',
    tag: 'approvals',
    says: 'Lists the approvals that release later calls: those that the caller gave or profits from; all of them for the token of the daemon.',
    answers: { 200: holding('The grants in force, also suspended ones.', grantList) },
    form,
  },
  'DELETE /grants/:id': {
    id: 'revokeGrant',
    tag: 'approvals',
    says: 'Ends an approval that releases later calls.',
    answers: {
      200: holding('The grant that ended.', grant),
      404: holding('The caller has no grant of this id.', refusal),
    },
    form,
  },
  'GET /delegations': {
    id: 'listDelegations',
    tag: 'approvals',
    says: 'Lists the delegations that the caller gave or received; all of them for the token of the daemon.',
    answers: { 200: holding('The delegations in force.', delegationList) },
    form,
  },
  'POST /delegations': {
    id: 'giveDelegation',
    tag: 'approvals',
    says: 'Lets another person decide for the caller, until a time.',
    body: {
      schema: delegationRequest,
      types: [json],
      example: { to: 'bob@example.com', until: '2026-12-27T09:00:00Z' },
    },
    answers: {
      201: holding('The delegation.', delegation),
      400: holding('The delegation is not possible; the error says why.', refusal),
      403: holding('The caller may not delegate for this person.', refusal),
    },
    form,
  },
  'DELETE /delegations/:id': {
    id: 'endDelegation',
    tag: 'approvals',
    says: 'Ends a delegation that the caller gave or received.',
    answers: {
      200: holding('The delegation that ended.', delegation),
      404: holding('The caller has no delegation of this id.', refusal),
    },
    form,
  },
  'POST /policy/reload': {
    id: 'reloadPolicy',
    tag: 'agent',
    says: 'Puts the policy of the files of the agent into force; only for the token of the daemon.',
    answers: {
      200: holding('The policy in force.', policyReloaded),
      403: holding('The caller does not have the token of the daemon.', refusal),
      409: holding('The files have a problem; nothing has changed.', policyUnusable),
    },
    form,
  },
  'POST /': {
    id: 'callMethod',
    tag: 'a2a',
    says: 'Answers JSON-RPC 2.0: the methods of A2A 0.3.0 and 1.0, and tasks/send and tasks/sendSubscribe; those that stream answer with events.',
    parameters: [version],
    body: {
      schema: rpcRequest,
      types: [json],
      example: {
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: {
          message: {
            kind: 'message',
            role: 'user',
            messageId: 'm1',
            parts: [{ kind: 'text', text: 'Refund A-1042' }],
          },
        },
      },
    },
    answers: {
      200: {
        says: 'The result, an error inside JSON-RPC, or a stream of either.',
        content: { [json]: rpcAnswer, [eventStream]: null },
      },
    },
    form: 'rpc',
    isAdmitted: true,
  },
  'GET /': {
    id: 'getFrontPage',
    tag: 'agent',
    says: 'Shows a page to browsers and the agent card to other clients.',
    parameters: [version],
    answers: {
      200: {
        says: 'A page, or the card.',
        content: { [json]: agentCard, 'text/html': null },
        headers: card.headers ?? {},
      },
      304: unchanged,
    },
    form,
    isPublic: true,
  },
  'GET /.well-known/agent-card.json': {
    id: 'getAgentCard',
    tag: 'agent',
    says: 'Shows the agent card.',
    parameters: [version],
    answers: { 200: card, 304: unchanged },
    form,
    isPublic: true,
  },
  'GET /.well-known/agent.json': {
    id: 'getAgentCardWhereItWas',
    tag: 'agent',
    says: 'Shows the agent card at its legacy path.',
    parameters: [version],
    answers: { 200: card, 304: unchanged },
    form,
    isPublic: true,
  },
  'GET /.well-known/service-audit-keys': {
    id: 'getAuditKeys',
    tag: 'agent',
    says: 'Shows the public keys of the audit log, none while it is unsigned.',
    answers: { 200: holding('The keys, as a JWKS.', auditKeys) },
    form,
    isPublic: true,
  },
  'GET /.well-known/audit-keys.json': {
    id: 'getCachedAuditKeys',
    tag: 'agent',
    says: 'Shows the public keys of the audit log and of receipts, for caches.',
    answers: {
      200: holding('The keys, as a JWKS.', auditKeys, {
        headers: { ETag: 'The same for equal bytes.', 'Cache-Control': 'Lets caches keep them.' },
      }),
      304: unchanged,
    },
    form,
    isPublic: true,
  },
  'GET /openapi.json': {
    id: 'getDescription',
    tag: 'agent',
    says: 'Shows this description.',
    answers: { 200: holding('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })) },
    form,
    isPublic: true,
  },
  'GET /healthz': {
    id: 'getHealth',
    tag: 'watching',
    says: 'Reports that the process is alive.',
    parameters: [
      {
        name: 'X-Service-Challenge',
        in: 'header',
        says: 'Proves that the agent is that of its folder.',
        schema: z.string(),
      },
    ],
    answers: { 200: holding('It does.', health, { example: { status: 'ok' } }) },
    form,
    isPublic: true,
    isUnlimited: true,
  },
  'GET /readyz': {
    id: 'getReadiness',
    tag: 'watching',
    says: 'Reports whether new work is accepted and can be recorded.',
    answers: { 200: holding('It is.', health, { example: { status: 'ready' } }) },
    form,
    isPublic: true,
    isUnlimited: true,
  },
  'GET /metrics': {
    id: 'getMetrics',
    tag: 'watching',
    says: 'Shows figures in the text format of Prometheus, with the usual sign-in or the token of `server.metrics`.',
    answers: { 200: { says: 'The figures.', content: { 'text/plain': null } } },
    form,
  },
};
