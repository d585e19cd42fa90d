import { z } from 'zod';
import type { Clock } from '../../actors/ports/clock.ts';
import { type Task, taskStates } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { awaitTask } from '../await-task.ts';
import { readJson } from '../middleware/read-json.ts';
import { openTask } from '../open-task.ts';
import { eventStream, holding, json } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { readSeen, TaskStream } from '../task-stream.ts';
import { sentInvocation } from '../wire/admission.ts';
import { cancel, readCancelReason } from '../wire/cancel-reason.ts';
import { challengeOf } from '../wire/challenge.ts';
import { decision, noDecision } from '../wire/decision.ts';
import { inspection } from '../wire/inspection.ts';
import { Problem, refusal } from '../wire/problem.ts';
import { progress } from '../wire/progress.ts';
import { readFlag, readHistory, readHistoryLength, readTaskQuery } from '../wire/query.ts';
import { presentStates } from '../wire/states.ts';
import { presentTask, task, taskPage } from '../wire/task.ts';
import { send } from '../wire/task-request.ts';
import { decisionResponses, decisions } from './decisions.ts';
import { type ReceiptPorts, receiptsGet, receiptType } from './receipts.ts';
import {
  badBody,
  badQuery,
  lastEventId,
  noTask,
  page,
  query,
  type Routes,
  taskOf,
} from './route.ts';
import { type SubscribePorts, subscribe } from './tasks-subscribe.ts';

type TaskRoutePorts = SubscribePorts & ReceiptPorts & { clock: Clock };

const sent = {
  schema: send,
  types: [json],
  example: { task: { message: { parts: [{ kind: 'text', text: 'Refund A-1042' }] } } },
};

const busy = holding('The task is still running.', refusal);
const theTask = holding('The stored task.', task);

const stream = {
  says: 'Events: status with the task after each change, progress between them, and result with the final task at the end.',
  content: { [eventStream]: null },
  events: { status: task, progress, result: task },
};

/** The routes of tasks. */
export const taskRoutes = (ports: TaskRoutePorts): Routes => ({
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
    admits: sentInvocation,
    answer: tasksSend(ports),
  },
  'POST /tasks/sendSubscribe': {
    id: 'streamTask',
    tag: 'tasks',
    says: 'Starts a task and streams it.',
    body: sent,
    answers: { 200: stream, 400: badBody, 404: noTask, 409: busy },
    admits: sentInvocation,
    answer: (ctx) => subscribe(ports, ctx, ctx.request.body),
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
    before: [readJson({ malformed: noDecision })],
    answer: decisions(ports),
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
    answer: cancelTask,
  },
  'GET /tasks/:id/events': {
    id: 'followTask',
    tag: 'tasks',
    says: 'Joins the stream of a task.',
    parameters: [lastEventId],
    answers: { 200: stream, 404: noTask },
    answer: joinTask,
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
    answer: inspectTask,
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
    answer: receiptsGet(ports),
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
    answer: showTask,
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
    answer: tasksList(ports),
  },
});

function tasksSend(ports: TaskRoutePorts) {
  return async function send(ctx: RoutedContext) {
    const task = await awaitTask(ctx, await openTask(ports, ctx, ctx.request.body));
    if (task === null) ctx.respond = false;
    else ctx.body = presentEnded(task, ctx.headerSent);
  };
}

/**
 * Formats the task of a send. Throws the challenge for a task that failed because of missing assurance. If the response
 * has begun, the task itself carries the failure.
 */
function presentEnded(task: Task, hasBegun: boolean): ReturnType<typeof presentTask> {
  const challenge = challengeOf(task);
  if (challenge !== null && !hasBegun) throw challenge.rest;
  return presentTask(task);
}

async function cancelTask(ctx: RoutedContext): Promise<void> {
  const { id } = ctx.params;
  const reason = readCancelReason(ctx.request.body);
  const task = isTaskId(id) ? await ctx.state.tasks.cancel(id, reason) : undefined;
  if (task === undefined) throw new Problem('task_not_found', 'task not found');
  ctx.body = presentTask(task);
}

/** Joins a task's stream, or resumes it where the client stopped. */
async function joinTask(ctx: RoutedContext): Promise<void> {
  const { id } = await taskOf(ctx);
  await new TaskStream(ctx).join(id, readSeen(ctx.get('Last-Event-ID')));
}

async function inspectTask(ctx: RoutedContext): Promise<void> {
  const { id } = await taskOf(ctx);
  const events = await ctx.state.tasks.inspectionOf(id);
  if (events === null) throw new Problem('inspection_off', off);
  ctx.body = { events };
}

const off = 'the inspector of this agent is off; start the agent with --inspect';

async function showTask(ctx: RoutedContext): Promise<void> {
  const task = await taskOf(ctx);
  const withStates = readHistory(ctx.query);
  ctx.body = presentTask(task, {
    historyLength: readHistoryLength(ctx.query),
    withDecisions: readFlag(ctx.query, 'decisions'),
    withOrigin: withStates,
    states: withStates ? presentStates(task, await ctx.state.tasks.statesOf(task.id)) : undefined,
  });
}

/** Lists tasks; messages are included only on request. */
function tasksList({ clock }: TaskRoutePorts) {
  return async function list(ctx: RoutedContext) {
    const { withOrigin, ...asked } = readTaskQuery(ctx.query, clock.now());
    const { tasks, cursor } = await ctx.state.tasks.list(asked);
    ctx.body = {
      tasks: tasks.map((task) => presentTask(task, { withOrigin })),
      ...(cursor === null ? {} : { next_cursor: cursor }),
    };
  };
}
