import { loginName } from '../../actors/login-name.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from './agent-session.ts';
import { readAnswer } from './read-answer.ts';

export interface DecideOptions extends AgentOptions {
  approver?: string;
  email?: string;
  note?: string;
  deferral?: string;
  argsSha256?: string;
}

/** `task approve ID` and `task reject ID`: decide on a task's held call (docs/contract/decisions.md). */
export async function taskDecide(
  session: Session,
  { id, decision }: { id: string; decision: 'approve' | 'reject' },
  { approver, email, note, deferral, argsSha256, ...options }: DecideOptions,
): Promise<void> {
  const { output } = session;
  const body = {
    decision,
    approver: approver ?? email ?? loginName(),
    ...(email === undefined ? {} : { approver_email: email }),
    ...(note === undefined ? {} : { note }),
    ...(deferral === undefined ? {} : { deferral_id: deferral }),
    ...(argsSha256 === undefined ? {} : { args_sha256: argsSha256 }),
  };
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/tasks/${encodeURIComponent(id)}/decisions`;
    const answer = readAnswer.decision(await agent.json({ method: 'POST', path, body, signal }));
    output.json(answer);
    const done = answer.decision === 'approve' ? 'approved' : 'rejected';
    const more = answer.status === 'recorded' ? '; the call waits for more approvals' : '';
    output.line(plainLine(`task ${answer.task_id}: ${done} by ${answer.approver}${more}`));
  });
}
