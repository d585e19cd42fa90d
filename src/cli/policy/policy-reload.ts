import { policyReloaded } from '../../http/wire/policy-reload.ts';
import { loose } from '../../http/wire/relaxed.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from '../task/agent-session.ts';

/** `policy reload`: puts the policy of the files into force in the running agent. Exits with 5 for invalid files. */
export async function policyReload(session: Session, options: AgentOptions): Promise<void> {
  const { output } = session;
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const answer = await agent
      .json({ method: 'POST', path: '/policy/reload', signal })
      .catch((error: unknown) => {
        throw error instanceof CliError && error.code === 'conflict' ? unusable(error) : error;
      });
    const reloaded = loose(policyReloaded, ['status', 'policy_sha256']).parse(answer);
    output.json(reloaded);
    const { status, policy_sha256: sha256, restart = [] } = reloaded;
    output.line(
      plainLine(
        status === 'applied'
          ? `the policy ${sha256} is in force`
          : `the policy ${sha256} was in force already`,
      ),
    );
    if (restart.length > 0) {
      output.warn(plainLine(`restart the agent to apply ${restart.join(', ')}`));
    }
  });
}

function unusable({ message, details }: CliError): CliError {
  return new CliError(message, {
    code: 'config_invalid',
    exitCode: exitCodes.invalid,
    hint: 'correct the file, and reload again',
    details,
  });
}
