import { delegation, delegationList } from '../../http/wire/delegation.ts';
import { loose } from '../../http/wire/relaxed.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { momentOf } from '../option-values.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from '../task/agent-session.ts';

/** `delegate FROM TO`: lets a person decide for another one. Throws CliError. */
export async function delegateGive(
  session: Session,
  people: { from: string; to: string },
  options: AgentOptions & { until?: string },
): Promise<void> {
  const body = { ...people, until: endOf(options.until) };
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const answer = await agent.json({ method: 'POST', path: '/delegations', body, signal });
    const given = loose(delegation, ['id', 'from', 'to', 'until']).parse(answer);
    session.output.json(given);
    session.output.line(
      plainLine(`${given.to} decides for ${given.from} until ${given.until} (${given.id})`),
    );
  });
}

/** `delegate list`: prints the delegations in force. Throws CliError. */
export async function delegateList(session: Session, options: AgentOptions): Promise<void> {
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const answer = await agent.json({ method: 'GET', path: '/delegations', signal });
    const { delegations } = loose(delegationList, ['delegations']).parse(answer);
    session.output.json({ delegations });
    if (delegations.length === 0) session.output.line('no delegation is in force');
    for (const { id, from, to, until } of delegations) {
      session.output.line(plainLine(`${id}  ${to} for ${from} until ${until}`));
    }
  });
}

/** `delegate end ID`: ends a delegation. Throws CliError. */
export async function delegateEnd(
  session: Session,
  id: string,
  options: AgentOptions,
): Promise<void> {
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/delegations/${encodeURIComponent(id)}`;
    const answer = await agent.json({ method: 'DELETE', path, signal });
    const ended = loose(delegation, ['from', 'to']).parse(answer);
    session.output.json(ended);
    session.output.line(plainLine(`${ended.to} no longer decides for ${ended.from}`));
  });
}

function endOf(text: string | undefined): string {
  const at = text === undefined ? Number.NaN : momentOf(text);
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new CliError(
    '--until must be a time such as 2026-12-27T09:00:00Z, or a duration such as 3d',
    {
      ...{ code: 'usage', exitCode: exitCodes.usage },
      hint: 'name the end of the delegation',
    },
  );
}
