import { resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { AddSkillError } from '../../actors/workspace/workspace.ts';
import { CreateError, createImported, type Unmet } from '../../agent/create/create-agent.ts';
import { registryWarning } from '../../agent/create/mcp-server-text.ts';
import { type ImportPlan, planImport } from '../../agent/import/import-agent.ts';
import { readImport } from '../../agent/import/read-import.ts';
import type { MovedKey } from '../../machines/moving/moved-key.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { printWarnings } from '../config-warnings.ts';
import { confirmed } from '../confirmed.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface ImportOptions {
  dir?: string;
  name?: string;
  without?: string[];
  gateway?: boolean;
  preview?: boolean;
  yes?: boolean;
}

/**
 * `import PATH`: shows the outcome of each key of another product's configuration, asks for a confirmation
 * unless `yes` is given, and creates the agent. Rejects with CliError and exit code 5 for a control that cannot be kept.
 */
export async function importAgent(
  session: Session,
  path: string,
  { dir, name, without = [], gateway = false, preview = false, yes = false }: ImportOptions,
): Promise<void> {
  const { output, env } = session;
  const given = { env, without, isGateway: gateway, ...(name === undefined ? {} : { name }) };
  const plan = await readImport(resolve(path))
    .then((source) => planImport(source, given))
    .catch(refuseSource);
  const stray = without.find((key) => !plan.keys.some((row) => row.key === key));
  if (stray !== undefined) {
    throw new CliError(plainLine(`there is no key ${stray} to omit`), {
      code: 'usage',
      exitCode: exitCodes.usage,
      hint: 'name it as the list of --preview does',
    });
  }
  const refused = plan.keys.filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0) throw notKept(plan.keys, refused);
  for (const row of plan.keys) output.line(plainLine(lineOf(row)));
  const directory = resolve(dir ?? plan.agentId);
  const told = { agent_id: plan.agentId, directory, keys: plan.keys.map((row) => ({ ...row })) };
  if (preview) {
    output.json({ ...told, files: [] });
    return;
  }
  if (!yes) await confirmed(session, `Write the agent ${plan.agentId} to ${directory}?`);
  const agent = { ...plan, source: path, env };
  const { files, unmet } = await createImported(agent, { directory, mayExist: true }).catch(
    refuseAgent,
  );
  for (const file of files) output.line(plainLine(`wrote ${file}`));
  nextSteps(session, { plan, directory, unmet });
  output.json({ ...told, files, unset: unmet.variables });
}

function lineOf({ key, outcome, to, why }: MovedKey): string {
  const note = why === undefined ? '' : `; ${why}`;
  switch (outcome) {
    case 'taken':
      return `${key}: taken${note}`;
    case 'renamed':
      return `${key}: renamed to ${to}${note}`;
    case 'lost':
      return `${key}: not supported: ${why}`;
    case 'refused':
      return `${key}: error: not supported: ${why}`;
  }
}

function nextSteps(
  { output }: Session,
  { plan, directory, unmet }: { plan: ImportPlan; directory: string; unmet: Unmet },
): void {
  const flags = ` --dir ${shellWord(directory)}`;
  const { servers = [] } = (plan.service['mcp'] ?? {}) as { servers?: { command?: string }[] };
  for (const warning of new Set(servers.map(registryWarning))) {
    if (warning !== null) output.warn(plainLine(warning));
  }
  const kept = Object.keys(plan.secrets);
  if (kept.length > 0)
    output.note(plainLine(`kept ${kept.join(', ')} in ${directory}/.service/.env`));
  for (const variable of unmet.variables) {
    const command = commandLine(`secret set ${variable}${flags}`);
    output.note(plainLine(`it needs ${variable}: set it with ${command}`));
  }
  for (const program of unmet.programs) output.note(plainLine(program));
  printWarnings(output, unmet.warnings);
  if (!('model' in plan.service || 'gate' in plan.service)) {
    output.note('it has no model yet: write model in service.yaml');
  }
  output.note(plainLine(`check it with: ${commandLine(`validate${flags}`)}`));
  if (!('gate' in plan.service)) return;
  output.note(plainLine(`start it with: ${commandLine(`run${flags}`)}`));
  output.note('then point MCP clients at its address and /mcp in place of the servers');
}

function notKept(keys: readonly MovedKey[], refused: readonly MovedKey[]): CliError {
  const count =
    refused.length === 1 ? '1 key cannot be kept' : `${refused.length} keys cannot be kept`;
  return new CliError(`${count}, and nothing was written`, {
    code: 'import_refused',
    exitCode: exitCodes.invalid,
    hint: 'change it in the source, or leave it out knowingly with --without KEY',
    lines: keys.map((row) => plainLine(lineOf(row))),
    details: { keys: keys.map((row) => ({ ...row })) },
  });
}

function refuseSource(error: unknown): never {
  if (!(error instanceof AddSkillError)) throw error;
  throw new CliError(plainLine(error.message), {
    code: 'import_refused',
    exitCode: exitCodes.invalid,
    hint: 'name a forge.yaml, a file with mcpServers, or a folder of skills; nothing was written',
    cause: error,
  });
}

function refuseAgent(error: unknown): never {
  if (!(error instanceof CreateError)) throw error;
  throw new CliError(plainLine(error.message), {
    code: 'agent_not_written',
    exitCode: error.code === 'agent_taken' ? exitCodes.usage : exitCodes.failed,
    hint:
      error.code === 'agent_taken'
        ? 'name another folder with --dir'
        : 'fix that in the source, or leave the key out with --without; nothing was written',
    cause: error,
  });
}
