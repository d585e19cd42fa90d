import { cardSchemes } from '../../actors/access/access.ts';
import { skillOfTool } from '../../actors/card/card.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Log } from '../../actors/ports/log.ts';
import { builtinToolNames, type Toolbox } from '../../actors/tools/tools.ts';
import { offeredTools } from '../policy/offered-tools.ts';

interface BasisParts {
  config: ServiceConfig;
  toolbox: Toolbox;
  isAuthOn: boolean;
  directory: string;
  env: NodeJS.ProcessEnv;
  log: Log;
}

/** The parts of the card that do not depend on files: builtin tools, security schemes, address. */
export function cardBasis(
  { config, toolbox, isAuthOn, directory, env, log }: BasisParts,
  address: string,
) {
  const tools = offeredTools(config, toolbox.tools)
    .filter(({ name }) => builtinToolNames.includes(name))
    .map(skillOfTool);
  const declared = isAuthOn ? cardSchemes(config.auth.providers) : [];
  return { directory, env, log, agentId: config.agent_id, tools, declared, isAuthOn, address };
}
