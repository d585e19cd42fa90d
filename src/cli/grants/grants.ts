import { grant, grantList } from '../../http/wire/grant.ts';
import { loose } from '../../http/wire/relaxed.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from '../task/agent-session.ts';

/** `grants list`: prints the approvals that release later calls. Throws CliError. */
export async function grantsList(session: Session, options: AgentOptions): Promise<void> {
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const answer = await agent.json({ method: 'GET', path: '/grants', signal });
    const { grants } = loose(grantList, ['grants']).parse(answer);
    session.output.json({ grants });
    if (grants.length === 0) session.output.line('no approval releases later calls');
    for (const { id, tool, when, until, uses_left: left, approver, suspended } of grants) {
      const calls = when === undefined ? 'equal calls' : `calls with ${when}`;
      const state = suspended ? ', suspended' : '';
      session.output.line(
        plainLine(`${id}  ${tool}: ${calls}, ${left} left until ${until}, by ${approver}${state}`),
      );
    }
  });
}

/** `grants revoke ID`: ends an approval that releases later calls. Throws CliError. */
export async function grantsRevoke(
  session: Session,
  id: string,
  options: AgentOptions,
): Promise<void> {
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/grants/${encodeURIComponent(id)}`;
    const ended = loose(grant, ['id', 'tool']).parse(
      await agent.json({ method: 'DELETE', path, signal }),
    );
    session.output.json(ended);
    session.output.line(plainLine(`calls of ${ended.tool} are asked for again`));
  });
}
