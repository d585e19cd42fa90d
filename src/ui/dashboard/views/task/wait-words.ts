import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';

/** The parts of a sentence about a wait. Their texts come from the configuration and from users. */
export interface WaitWords {
  /** The approvers, such as `#finance, carol@example.com`. */
  whom: string;
  rule: string;
  /** Progress of a quorum; empty if one approval is enough. */
  progress: string;
}

/** Describes for whom a call waits, and which rule holds this call. */
export function waitWords({ to, escalated_to, tool, quorum, approvals }: DeferralJson): WaitWords {
  const asked = [...to.split(', '), ...(escalated_to === undefined ? [] : [escalated_to])];
  return {
    whom: [...new Set(asked.map(shortTarget))].join(', '),
    rule: `defer.tools.${tool}`,
    progress: quorum > 1 ? `${approvals.length} of ${quorum} approvals` : '',
  };
}

/** Shortens a target by its common prefix: `slack #finance` for `channel:slack:#finance`. */
function shortTarget(target: string): string {
  return target.replace(/^channel:([^:]+):(.*)$/s, (_, adapter: string, name: string) =>
    name === '' ? adapter : `${adapter} ${name}`,
  );
}
