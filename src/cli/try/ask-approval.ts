import { loginName } from '../../actors/login-name.ts';
import { CliError } from '../cli-error.ts';
import type { Output } from '../output.ts';
import { timeLeft } from '../task/print-task.ts';
import type { DeferralJson } from '../task/read-answer.ts';
import type { Demo } from './demo.ts';
import type { Prompter } from './prompter.ts';

export interface Approval {
  output: Output;
  demo: Demo;
  prompter: Prompter;
  deferral: DeferralJson;
  /** Called when the user leaves instead of deciding. */
  onLeave: () => void;
}

/**
 * Asks whether a held call may run. Returns a function that withdraws the question and returns true if the user decided
 * it here.
 */
export function askApproval(approval: Approval): () => Promise<boolean> {
  const over = new AbortController();
  const signal = AbortSignal.any([approval.demo.signal, over.signal]);
  const settled = putQuestion(approval, signal).catch((error: unknown) => {
    if (!signal.aborted) {
      approval.output.note(error instanceof CliError ? error.message : String(error));
    }
    return false;
  });
  return () => {
    over.abort(new Error('the call is no longer pending'));
    return settled;
  };
}

async function putQuestion(approval: Approval, signal: AbortSignal): Promise<boolean> {
  const { prompter, deferral, onLeave } = approval;
  const question = (): string =>
    `approve? [y/n] (auto-deny ${timeLeft(deferral.expires_at, Date.now())}) `;
  for (;;) {
    const answer = await prompter.ask(question, signal);
    if (answer === null) break;
    const decision = decisionOf(answer);
    if (decision === null) continue;
    const note =
      decision === 'reject' ? await prompter.ask(() => 'reason (may be empty): ', signal) : '';
    if (note === null) break;
    await decide(approval, decision, note.trim());
    return true;
  }
  onLeave();
  return false;
}

async function decide(
  { demo, deferral }: Approval,
  decision: 'approve' | 'reject',
  note: string,
): Promise<void> {
  await demo.client.json({
    method: 'POST',
    path: `/tasks/${encodeURIComponent(deferral.task_id)}/decisions`,
    body: {
      decision,
      approver: loginName(),
      note,
      deferral_id: deferral.id,
      args_sha256: deferral.args_sha256,
    },
    signal: demo.signal,
  });
}

function decisionOf(answer: string): 'approve' | 'reject' | null {
  const word = answer.trim().toLowerCase();
  if (['y', 'yes', 'approve'].includes(word)) return 'approve';
  return ['n', 'no', 'reject'].includes(word) ? 'reject' : null;
}
