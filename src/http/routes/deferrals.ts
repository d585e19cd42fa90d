import { z } from 'zod';
import type { Deferral } from '../../machines/domain/task.ts';
import { maySeeWhole } from '../../machines/governance/approvers.ts';
import type { JsonObject } from '../../machines/json.ts';
import { holding, json } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { decidedPage, presentDecided } from '../wire/decided-call.ts';
import { decisionAnswers, decisionList as decisionBodies } from '../wire/decision.ts';
import { deferralDetail, deferralPage, presentDeferral, presentWhole } from '../wire/deferral.ts';
import { Problem, refusal } from '../wire/problem.ts';
import { readDeadlineOrder, readDeadlinePage, readDecidedBy, readPage } from '../wire/query.ts';
import { decisionList } from './decisions.ts';
import { badBody, badQuery, page, query, type Routes } from './route.ts';

export interface DeferralPorts {
  /** Returns the JSON Schema of a held call's arguments; `null` for an unknown tool. */
  schemaOf: (held: Pick<Deferral, 'tool' | 'args'>) => JsonObject | null;
}

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

/** The routes of calls that wait. */
export const deferralRoutes = (
  ports: DeferralPorts & Parameters<typeof decisionList>[0],
): Routes => ({
  'POST /deferrals/decisions': {
    id: 'decideEach',
    tag: 'approvals',
    says: 'Submits up to 100 decisions, each as if it were sent alone; an approval needs deferral_id and args_sha256.',
    body: {
      schema: decisionBodies,
      types: [json],
      example: {
        decisions: [{ task_id: 'refund-1', decision: 'reject', note: 'no receipt' }],
      },
    },
    answers: {
      200: holding('One answer for each decision.', decisionAnswers),
      400: badBody,
    },
    answer: decisionList(ports),
  },
  'GET /deferrals/:id': {
    id: 'getDeferral',
    tag: 'approvals',
    says: 'Shows one call that waits, with the arguments that would run.',
    answers: {
      200: holding('The call.', deferralDetail),
      404: holding('No pending deferral with this id.', refusal),
    },
    answer: deferralsGet(ports),
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
    answer: deferralsList,
  },
});

export async function deferralsList(ctx: RoutedContext): Promise<void> {
  const { tasks, caller } = ctx.state;
  if (readDecidedBy(ctx.query)) {
    const decided = await tasks.listDecided(readPage(ctx.query));
    ctx.body = {
      deferrals: decided.tasks.flatMap((task) => presentDecided(task, caller)),
      ...(decided.cursor === null ? {} : { next_cursor: decided.cursor }),
    };
    return;
  }
  const [page, total] = await Promise.all([
    readDeadlineOrder(ctx.query)
      ? tasks.listWaiting(readDeadlinePage(ctx.query))
      : tasks.list({ state: 'parked', ...readPage(ctx.query) }),
    tasks.total({ state: 'parked' }),
  ]);
  ctx.body = {
    deferrals: page.tasks
      .map((task) => presentDeferral(task, { sees: tasks.sees(task) }))
      .filter((deferral) => deferral !== null),
    total,
    ...(page.cursor === null ? {} : { next_cursor: page.cursor }),
  };
}

/**
 * Shows one pending deferral. Callers who may decide also receive the arguments that would run, and their schema if they may change them
 * (docs/contract/transports.md). People who have signed in with a browser also receive `may_decide`.
 */
export function deferralsGet({ schemaOf }: DeferralPorts) {
  return async function get(ctx: RoutedContext) {
    const task = await ctx.state.tasks.findByDeferral(ctx.params['id'] ?? '');
    const held = task?.deferral ?? null;
    if (task === undefined || held === null) {
      throw new Problem('deferral_not_found', 'no pending deferral with this id');
    }
    const { caller, signedInAt, tasks } = ctx.state;
    const isWhole = maySeeWhole(held, caller, task.requester, tasks.who);
    const sees = tasks.sees(task);
    const shown = isWhole
      ? presentWhole(task, schemaOf(held), sees)
      : presentDeferral(task, { sees });
    if (signedInAt === undefined) {
      ctx.body = shown;
      return;
    }
    // A person who has signed in decides with a verified email alone.
    const bound = { ...held, bindApprover: true };
    const may_decide = maySeeWhole(bound, caller, task.requester, tasks.who);
    ctx.body = { ...shown, may_decide };
  };
}
