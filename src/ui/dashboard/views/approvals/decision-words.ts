import type {
  DecisionRequestJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import { shellWord } from '../../../../machines/shell-word.ts';

interface CommandDetails extends Pick<DecisionRequestJson, 'remember'> {
  /** The arguments to run instead; `null` for those of the call. */
  args?: object | null;
}

/** Returns the command that decides on exactly the displayed call. */
export function decisionCommand(
  verb: 'approve' | 'reject',
  deferral: DeferralJson,
  directory: string | null,
  email: string,
  note: string,
  { args = null, remember }: CommandDetails = {},
): string {
  const { task_id, args_sha256, approvers } = deferral;
  const isNeeded = needsReason(deferral, verb);
  const reason = note === '' && isNeeded ? 'WHY' : verb === 'reject' || isNeeded ? note : '';
  const words = ['holdpoint task', verb, shellWord(task_id)];
  if (directory !== null) words.push('--dir', shellWord(directory));
  words.push('--args-sha256', shellWord(args_sha256));
  if (args !== null) words.push('--args', shellWord(JSON.stringify(args)));
  if (remember !== undefined) {
    const { scope, for: time, uses, when } = remember;
    words.push('--remember', scope, '--for', shellWord(time), '--uses', String(uses));
    if (when !== undefined) words.push('--when', shellWord(when));
  }
  if (email !== '') words.push('--email', shellWord(email));
  else if (approvers !== null) words.push('--email', 'YOU@EXAMPLE.COM');
  if (reason !== '') words.push('--note', shellWord(reason));
  return words.join(' ');
}

/** Returns true if the call's rule demands a reason for this decision. */
export function needsReason(
  { require_reason: needed }: DeferralJson,
  verb: 'approve' | 'reject',
): boolean {
  return needed === 'both' || needed === verb;
}
