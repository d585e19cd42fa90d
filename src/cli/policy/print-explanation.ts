import type { ExplainedDeferral, Explanation } from '../../dashboard/reading/explanation.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { Output } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import { decisionLines } from '../task/print-task.ts';

/** Prints the outcome of a hypothetical call with the given arguments. */
export function printExplanation(output: Output, explanation: Explanation, asked: JsonValue): void {
  const { colours } = output;
  output.json(explanation);
  for (const line of decisionLines(output, explanation.layers)) output.line(line);
  output.line();
  output.line(colours.bold(plainLine(outcomeLine(explanation))));
  if (!explanation.complete) output.line(colours.yellow(incomplete));
  for (const [label, value] of labelsOf(explanation, asked)) {
    output.line(`  ${label.padEnd('args_sha256'.length)}  ${plainLine(value)}`);
  }
}

const incomplete =
  'this is incomplete: intent alignment was not evaluated and may deny the call earlier; add --message';

function outcomeLine({ outcome, text = '', deferral }: Explanation): string {
  if (outcome === 'deny') return `would be denied: ${text}`;
  if (outcome === 'step_up') return `would be challenged: ${text}`;
  return deferral === undefined ? 'would run' : `would wait for ${waitOf(deferral)}, then run`;
}

function waitOf(deferral: ExplainedDeferral): string {
  const { to, timeout, approvers, quorum, four_eyes, remind, escalate_to, escalations } = deferral;
  const who =
    approvers === null ? 'anyone in the channel' : `approvers ${approvers.join(', ') || 'nobody'}`;
  return [
    to,
    timeout,
    `${who} (quorum ${quorum})`,
    ...(four_eyes ? ['not the requester'] : []),
    ...(remind ? ['reminded at half of the time'] : []),
    ...(escalations ?? []).map((stage) => `${stage.to} as well after ${stage.after}`),
    ...(escalate_to === null || escalations !== undefined
      ? []
      : [`${escalate_to} as well at three quarters`]),
  ].join(', ');
}

function labelsOf(
  { arguments: args, args_sha256, deferral, layers }: Explanation,
  asked: JsonValue,
): [label: string, value: string][] {
  const isModified = layers.some(({ decision }) => decision === 'modify');
  const labels: [label: string, value: string][] = isModified
    ? [['before', JSON.stringify(asked)]]
    : [];
  labels.push([isModified ? 'after' : 'arguments', JSON.stringify(args)]);
  if (deferral !== undefined) labels.push(['context', deferral.context]);
  labels.push(['args_sha256', args_sha256]);
  return labels;
}
