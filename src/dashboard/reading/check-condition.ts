import { ConditionCompiler, conditionWords, typesOf } from '../../actors/governance/governance.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { ToolMap } from '../../actors/tool-name.ts';
import { namedTools } from '../../agent/named-tools.ts';
import { readAgent } from '../../agent/read-agent.ts';
import { unsetVariables } from '../../agent/rule-conditions.ts';
import type {
  ConditionCheckJson,
  ConditionWordJson,
  ConditionWordsJson,
} from '../../http/wire/dashboard/policy-edit-json.ts';

/** Lists the names that conditions of an agent can use; `null` if its `service.yaml` is invalid. */
export async function wordsOfConditions(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<ConditionWordsJson | null> {
  const { agent } = await readAgent(directory, env, systemClock());
  if (agent === null) return null;
  const { config, toolbox, seen } = agent;
  const tools = new ToolMap([...toolbox.tools]);
  const args = namedTools(config, toolbox, seen).map((name): [string, ConditionWordJson[]] => [
    name,
    membersOf('args', typesOf(tools.get(name)?.parameters ?? {})),
  ]);
  return {
    words: conditionWords(config.security.policy.environment),
    args: Object.fromEntries(args),
  };
}

/**
 * Returns the first fault of a condition on a tool's calls. The schema of an MCP server's tool is not known here, so only
 * the syntax is checked.
 */
export async function checkCondition(
  directory: string,
  env: NodeJS.ProcessEnv,
  { tool, when }: { tool: string; when: string },
): Promise<ConditionCheckJson> {
  const { agent } = await readAgent(directory, env, systemClock());
  const tools = new ToolMap([...(agent?.toolbox.tools ?? [])]);
  const compiler = new ConditionCompiler({
    environment: unsetVariables(agent?.config.security.policy.environment ?? []),
  });
  const compiled = compiler.compile(when, tools.get(tool)?.parameters ?? {});
  return { fault: 'holds' in compiled ? null : { message: compiled.message, at: compiled.at } };
}

function membersOf(path: string, types: ReturnType<typeof typesOf>): ConditionWordJson[] {
  return Object.entries(types).flatMap(([name, type]) => {
    const word = `${path}.${name}`;
    if (typeof type === 'string') return [{ word, type, about: '' }];
    return [{ word, type: 'map', about: '' }, ...membersOf(word, type)];
  });
}
