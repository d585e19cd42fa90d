import { readJson } from '../middleware/read-json.ts';
import { holding } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { grant, grantList, presentGrant } from '../wire/grant.ts';
import { Problem, refusal } from '../wire/problem.ts';
import type { Routes } from './route.ts';

/** The routes of the releases of later calls. */
export const grantRoutes: Routes = {
  'GET /grants': {
    id: 'listGrants',
    tag: 'approvals',
    says: 'Lists the approvals that release later calls: those that the caller gave or profits from; all of them for the token of the daemon.',
    answers: { 200: holding('The grants in force, also suspended ones.', grantList) },
    answer: listGrants,
  },
  'DELETE /grants/:id': {
    id: 'revokeGrant',
    tag: 'approvals',
    says: 'Ends an approval that releases later calls.',
    answers: {
      200: holding('The grant that ended.', grant),
      404: holding('The caller has no grant of this id.', refusal),
    },
    before: [readJson()],
    answer: revokeGrant,
  },
};

export async function listGrants(ctx: RoutedContext): Promise<void> {
  ctx.body = { grants: (await ctx.state.tasks.grants()).map(presentGrant) };
}

export async function revokeGrant(ctx: RoutedContext): Promise<void> {
  const ended = await ctx.state.tasks.revokeGrant(ctx.params['id'] ?? '');
  if (ended === undefined) throw new Problem('grant_not_found', 'grant not found');
  ctx.body = presentGrant(ended);
}
