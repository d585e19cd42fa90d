import type { RoutedContext } from '../request-state.ts';
import { presentGrant } from '../wire/grant.ts';
import { Problem } from '../wire/problem.ts';

/** Path of the releases of later calls. */
export const grantsPath = '/grants';

/** `GET /grants`: the releases of later calls that the caller gave or profits from; all for the token of the daemon. */
export function grantsList() {
  return async function list(ctx: RoutedContext) {
    ctx.body = { grants: (await ctx.state.tasks.grants()).map(presentGrant) };
  };
}

/** `DELETE /grants/{id}`: ends a release of later calls. */
export function grantsRevoke() {
  return async function revoke(ctx: RoutedContext) {
    const ended = await ctx.state.tasks.revokeGrant(ctx.params['id'] ?? '');
    if (ended === undefined) throw new Problem('grant_not_found', 'grant not found');
    ctx.body = presentGrant(ended);
  };
}
