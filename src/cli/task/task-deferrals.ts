import { commandLine } from '../../actors/command-line.ts';
import { shellWord } from '../../machines/shell-word.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, type AgentSession, usualTimeout, withAgent } from './agent-session.ts';
import { deferralLines } from './print-task.ts';
import { type DeferralJson, readAnswer } from './read-answer.ts';

/** `task deferrals`: lists every held tool call, oldest first. */
export async function taskDeferrals(session: Session, options: AgentOptions): Promise<void> {
  const { output } = session;
  await withAgent(session, options, usualTimeout, async (agentSession) => {
    const deferrals = (await pages(agentSession)).toSorted(
      (one, other) => Date.parse(one.requested_at) - Date.parse(other.requested_at),
    );
    output.json({ deferrals });
    for (const deferral of deferrals) {
      output.line(output.colours.bold(`task ${deferral.task_id}`));
      for (const line of deferralLines(deferral, Date.now())) output.line(line);
      const pin = `${agentSession.agent.flags} --args-sha256 ${deferral.args_sha256}`;
      const approve = commandLine(`task approve ${shellWord(deferral.task_id)}${pin}`);
      output.line(`  decide     ${approve}`);
      output.line();
    }
    if (deferrals.length === 0) output.note('nothing to approve');
  });
}

async function pages({ agent, signal }: AgentSession): Promise<DeferralJson[]> {
  const found: DeferralJson[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({
      limit: '500',
      ...(cursor === undefined ? {} : { cursor }),
    });
    const path = `/deferrals?${query.toString()}`;
    const page = readAnswer.deferralPage(await agent.json({ method: 'GET', path, signal }));
    found.push(...page.deferrals);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}
