import type { LimitJson } from '../../../../http/wire/dashboard/limit-json.ts';
import type { PolicyJson, ToolPolicyJson } from '../../../../http/wire/dashboard/policy-json.ts';

/** Describes who decides on a held tool, the quorum, the timeout, the escalation, and what a decision needs. */
export function deciderWords(tool: ToolPolicyJson): string {
  const { approvers, quorum = 1, demands = [], timeout, escalates } = tool;
  const who = approvers === null ? 'anyone notified' : approvers.join(', ');
  const first = [
    quorum > 1 ? `Decided by ${quorum} of ${who}` : `Decided by ${who}`,
    ...(timeout === undefined ? [] : [`within ${timeout}`]),
    ...(escalates === undefined ? [] : [`escalates to ${escalates.to} after ${escalates.after}`]),
  ].join(', ');
  return [first, ...demands.map((demand) => demand.replace(/\.$/, ''))].join('. ');
}

/** Describes whether the platform is asked before an invocation starts, and its last result. */
export function admissionWords({ enabled, url, last }: PolicyJson['admission']): string {
  if (!enabled) return 'off: every invocation is admitted';
  const asked = url === undefined ? 'on' : `on: ${url}`;
  if (last === undefined) return `${asked}; no denial or failure recorded`;
  const how = last.result === 'denied' ? 'denied' : 'call failed, admitted';
  const why = last.says === '' ? '' : `: ${last.says}`;
  return `${asked}; last recorded at ${last.at}: ${how}${why}`;
}

/** Returns the standing of a limit that has the least left for its maximum, and the number of the limit's others. */
export function standingsOf(
  limits: readonly LimitJson[],
  name: string | undefined,
): { fullest: LimitJson | undefined; others: number } {
  const own = limits.filter((limit) => limit.name === name);
  const share = ({ used, reserved, max }: LimitJson) =>
    (Number(used) + Number(reserved)) / Number(max);
  const [fullest, ...others] = own.toSorted((one, other) => share(other) - share(one));
  return { fullest, others: others.length };
}

/** Describes how often a rule in shadow would have decided. */
export function shadowWords(
  decision: string,
  { times, days }: { times: number; days: number },
): string {
  const verb = decision === 'defer' ? 'asked' : 'decided';
  const count = times === 1 ? 'once' : `${times.toLocaleString('en')} times`;
  return times === 0
    ? `It decides nothing, and would not have ${verb} in the last ${days} days.`
    : `It decides nothing, and would have ${verb} ${count} in the last ${days} days.`;
}
