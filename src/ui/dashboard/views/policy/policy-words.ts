import type { PolicyJson, ToolPolicyJson } from '../../../../http/wire/dashboard/policy-json.ts';

/** Describes who decides on a held tool, the quorum, the timeout, and the escalation. */
export function deciderWords(tool: ToolPolicyJson): string {
  const { approvers, quorum = 1, four_eyes, timeout, escalates } = tool;
  const who = approvers === null ? 'anybody who is asked' : approvers.join(', ');
  return [
    quorum > 1 ? `Decided by ${quorum} of ${who}` : `Decided by ${who}`,
    ...(four_eyes === true ? ['never by whoever asked for the call'] : []),
    ...(timeout === undefined ? [] : [`within ${timeout}`]),
    ...(escalates === undefined ? [] : [`after ${escalates.after} ${escalates.to} is asked too`]),
  ].join(', ');
}

/** Describes whether the platform is asked before an invocation starts, and its last result. */
export function admissionWords({ enabled, url, last }: PolicyJson['admission']): string {
  if (!enabled) return 'off: every invocation may start';
  const asked = url === undefined ? 'on' : `on: ${url} is asked`;
  if (last === undefined) return `${asked}; no refusal and no failure is noted`;
  const how = last.result === 'denied' ? 'refused' : 'could not be asked, and admitted';
  const why = last.says === '' ? '' : `: ${last.says}`;
  return `${asked}; last noted at ${last.at}: ${how}${why}`;
}
