import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';

/** What a sentence about a wait names; its texts are those of the configuration and of people. */
export interface WaitWords {
  /** Whom the call waits for, such as `#finance, carol@example.com`. */
  whom: string;
  rule: string;
  /** How far a quorum is; empty where one approval is enough. */
  progress: string;
}

/** Says for whom a call waits, and which rule holds it. */
export function waitWords({ to, escalated_to, tool, quorum, approvals }: DeferralJson): WaitWords {
  const asked = [to, escalated_to ?? []].flat();
  return {
    whom: [...new Set(asked.map(shortTarget))].join(', '),
    rule: `defer.tools.${tool}`,
    progress: quorum > 1 ? `${approvals.length} of ${quorum} have approved` : '',
  };
}

/** A target without what is the same in all of them: `slack #finance` for `channel:slack:#finance`. */
function shortTarget(target: string): string {
  return target.replace(/^channel:([^:]+):(.*)$/s, (_, adapter: string, name: string) =>
    name === '' ? adapter : `${adapter} ${name}`,
  );
}
