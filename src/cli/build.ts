import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { formatAgentSpec, writeAgentSpec } from '../actors/card/card.ts';
import { systemClock } from '../actors/system-clock.ts';
import { readAgent } from '../agent/start/read-agent.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { configFailure } from './config-failure.ts';
import { printWarnings } from './config-warnings.ts';
import { plainLine } from './plain-text.ts';
import { environmentOf } from './secret-access.ts';
import type { Session } from './session.ts';

export interface BuildOptions {
  dir: string;
}

/** `build`: writes the agent card's skills to the build spec after validating the agent. */
export async function build(session: Session, { dir }: BuildOptions): Promise<void> {
  const { output } = session;
  const directory = resolve(dir);
  const env = await environmentOf(session, directory);
  const { problems, warnings, agent } = await readAgent(directory, env, systemClock());
  printWarnings(output, warnings);
  if (agent === null || problems.length > 0) throw configFailure(problems, warnings);
  const content = formatAgentSpec(agent.config, agent.toolbox.skills);
  const path = await write(directory, content);
  const skills = agent.toolbox.skills.length;
  output.line(`wrote ${plainLine(path)} with ${skills === 1 ? '1 skill' : `${skills} skills`}`);
  output.json({ path, skills, sha256: hash('sha256', content) });
}

async function write(directory: string, content: string): Promise<string> {
  try {
    return await writeAgentSpec(directory, content);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw new CliError(`the build spec cannot be written (${reason})`, {
      code: 'cannot_write',
      exitCode: exitCodes.failed,
      hint: `check that you may write to ${directory}`,
      cause: error,
    });
  }
}
