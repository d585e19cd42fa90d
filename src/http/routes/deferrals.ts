import type { Deferral } from '../../machines/domain/task.ts';
import { maySeeWhole } from '../../machines/governance/approvers.ts';
import type { JsonObject } from '../../machines/json.ts';
import type { RoutedContext } from '../request-state.ts';
import { presentDecided } from '../wire/decided-call.ts';
import { presentDeferral, presentWhole } from '../wire/deferral.ts';
import { Problem } from '../wire/problem.ts';
import { readDeadlineOrder, readDeadlinePage, readDecidedBy, readPage } from '../wire/query.ts';

export interface DeferralPorts {
  /** Returns the JSON Schema of a held call's arguments; `null` for an unknown tool. */
  schemaOf: (held: Pick<Deferral, 'tool' | 'args'>) => JsonObject | null;
}

/**
 * `GET /deferrals`: the pending deferrals, newest first or by deadline, and their number, or those that the caller decided
 * (docs/contract/transports.md).
 */
export function deferralsList() {
  return async function list(ctx: RoutedContext) {
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
        .map((task) => presentDeferral(task))
        .filter((deferral) => deferral !== null),
      total,
      ...(page.cursor === null ? {} : { next_cursor: page.cursor }),
    };
  };
}

/**
 * `GET /deferrals/{id}`: one pending deferral. Callers who may decide also receive the arguments that would run, and their schema if they may change them
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
    const shown = isWhole ? presentWhole(task, schemaOf(held)) : presentDeferral(task);
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
