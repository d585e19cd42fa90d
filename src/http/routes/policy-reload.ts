import { runtimeProvider } from '../../machines/governance/approvers.ts';
import { holding } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { type PolicyReloaded, policyReloaded, policyUnusable } from '../wire/policy-reload.ts';
import { Problem, refusal } from '../wire/problem.ts';
import type { Routes } from './route.ts';

export interface PolicyReloadPorts {
  /** Puts the policy of the agent's files into force; `problems` are those of the files. */
  reloadPolicy: () => Promise<PolicyReloaded | { problems: string[] }>;
}

/** The route that reads the agent's files again. */
export const policyRoutes = (ports: PolicyReloadPorts): Routes => ({
  'POST /policy/reload': {
    id: 'reloadPolicy',
    tag: 'agent',
    says: 'Puts the policy of the files of the agent into force; only for the token of the daemon.',
    answers: {
      200: holding('The policy in force.', policyReloaded),
      403: holding('The caller does not have the token of the daemon.', refusal),
      409: holding('The files have a problem; nothing has changed.', policyUnusable),
    },
    answer: policyReload(ports),
  },
});

function policyReload({ reloadPolicy }: PolicyReloadPorts) {
  return async function reload(ctx: RoutedContext) {
    if (ctx.state.caller?.provider !== runtimeProvider)
      throw new Problem('daemon_token_required', refused);
    const outcome = await reloadPolicy();
    if ('problems' in outcome) {
      const error = `${outcome.problems[0]}; the policy in force stays`;
      throw new Problem('policy_invalid', error, { ...outcome });
    }
    ctx.body = outcome;
  };
}

const refused =
  "only the daemon's own token may reload the policy; it is in .service/runtime.token";
