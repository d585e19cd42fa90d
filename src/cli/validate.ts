import { resolve } from 'node:path';
import { commandLine } from '../actors/command-line.ts';
import { staleSchemas } from '../agent/create/stale-schemas.ts';
import { heldTools, rulesByName, shadowRules } from '../agent/policy/ruled-tools.ts';
import { checkAgent } from '../agent/start/agent-findings.ts';
import { shellWord } from '../machines/shell-word.ts';
import { asJson, configFailure } from './config-failure.ts';
import { printWarnings } from './config-warnings.ts';
import { plainLine } from './plain-text.ts';
import { warnOfPolicyGap } from './policy-warning.ts';
import { environmentOf } from './secret-access.ts';
import type { Session } from './session.ts';

export interface ValidateOptions {
  dir: string;
}

/** `validate`: checks `service.yaml` and the skills, and lists every problem with its location. */
export async function validate(session: Session, { dir }: ValidateOptions): Promise<void> {
  const { output } = session;
  const env = await environmentOf(session, resolve(dir));
  const directory = resolve(dir);
  const { problems, warnings, config, skills, tools, unknownServers, policySha256 } =
    await checkAgent(directory, env);
  const gap = warnOfPolicyGap(output, directory, policySha256);
  printWarnings(output, warnings);
  for (const path of staleSchemas(directory)) output.note(plainLine(staleNote(path, dir)));
  if (config === null || problems.length > 0) throw configFailure(problems, warnings);
  const held = heldTools(config, tools);
  const skillCount = skills.length === 1 ? '1 skill' : `${skills.length} skills`;
  output.line(`service.yaml and ${skillCount} are valid`);
  output.line(`  agent  ${config.agent_id} ${config.version}`);
  output.line(
    config.gate === undefined
      ? `  model  ${config.model.provider} ${config.model.name}`.trimEnd()
      : `  gate   other tools: ${config.gate.unknown}`,
  );
  output.line(`  tools  ${tools.join(', ') || 'none'}`);
  for (const server of unknownServers) {
    output.line(
      plainLine(`  mcp    the tools of ${server} are not known until the agent has reached it`),
    );
  }
  output.line(`  held   ${held.join(', ') || 'none'}`);
  const rules = rulesByName(config, tools);
  const shadow = shadowRules(config);
  const marked = (rule: string) => (shadow.includes(rule) ? `${rule} (shadow)` : rule);
  for (const [name, applying] of rules) {
    output.line(plainLine(`  rules  ${name}: ${applying.map(marked).join(', ')}`));
  }
  output.json({
    ...{ valid: true, problems: [], warnings: warnings.map(asJson) },
    rules: Object.fromEntries(rules),
    ...(shadow.length === 0 ? {} : { shadow }),
    ...gap,
  });
}

function staleNote(path: string, dir: string): string {
  const flags = dir === '.' ? '' : ` --dir ${shellWord(dir)}`;
  return `${path}, by which an editor checks the file, is of another release; write it anew with ${commandLine(`schema --write${flags}`)}`;
}
