import { runtimeProvider } from '../../machines/governance/approvers.ts';
import type { RoutedContext } from '../request-state.ts';
import type { PolicyReloaded } from '../wire/policy-reload.ts';
import { Problem } from '../wire/problem.ts';

export interface PolicyReloadPorts {
  /** Puts the policy of the agent's files into force; `problems` are those of the files. */
  reloadPolicy: () => Promise<PolicyReloaded | { problems: string[] }>;
}

/** `POST /policy/reload`: reads the agent's files again. Only the daemon's own token may ask for it. */
export function policyReload({ reloadPolicy }: PolicyReloadPorts) {
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
