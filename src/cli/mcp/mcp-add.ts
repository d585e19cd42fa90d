import { commandLine } from '../../actors/command-line.ts';
import { readSection } from '../../actors/config/config.ts';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { registryWarning } from '../../agent/create/mcp-server-text.ts';
import { addMcpServer, type McpServerOrder } from '../../agent/create/new-mcp-server.ts';
import { environmentFolder } from '../../agent/start/agent-environment.ts';
import { assumedEnvironment } from '../../agent/start/lenient-environment.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { agentDirectory } from '../agent-directory.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { printWarnings } from '../config-warnings.ts';
import { plainLine } from '../plain-text.ts';
import { refuseChange } from '../refuse-change.ts';
import type { Session } from '../session.ts';

export interface McpAddOptions {
  url?: string;
  header?: string[];
  env?: string[];
  allow?: string[];
  deny?: string[];
  held?: string[];
  to?: string;
  dir: string;
}

/** `mcp add NAME`: writes a server and the rules for its tools to `service.yaml`, and prints the next steps. */
export async function mcpAdd(
  session: Session,
  name: string,
  words: readonly string[],
  options: McpAddOptions,
): Promise<void> {
  const { output, env } = session;
  const directory = agentDirectory(options.dir);
  const order = orderOf(name, words, options);
  const place = { directory, env: await assumedEnvironment(directory, env) };
  const { providers } = readSection(directory, 'secrets', env);
  const folder = providers.includes('env') ? environmentFolder(directory, env) : null;
  const added = await addMcpServer(place, order, { folder, own: env }).catch((error: unknown) => {
    if (error instanceof SecretsError) throw error;
    return refuseChange(error);
  });
  const { rules, kept, unset, warnings } = added;
  output.line(plainLine(`added the MCP server ${name} to ${directory}/service.yaml`));
  for (const tool of rules.heldAdded) {
    output.line(plainLine(`  ${tool} waits for ${rules.to.join(', ')}`));
  }
  if (rules.isDeferTurnedOn) output.line('  security.defer.enabled is turned on for them');
  for (const variable of kept) output.line(plainLine(`kept ${variable} in ${folder}/.env`));
  printWarnings(
    output,
    warnings.filter(({ path }) => path.startsWith('mcp.')),
  );
  const registry = registryWarning(order);
  if (registry !== null) output.warn(registry);
  const flags = options.dir === '.' ? '' : ` --dir ${shellWord(options.dir)}`;
  for (const variable of unset) {
    output.note(
      plainLine(
        `it needs ${variable}: set it with ${commandLine(`secret set ${variable}${flags}`)}`,
      ),
    );
  }
  output.note(
    plainLine(
      `start the agent, again if it runs, and look at its tools with: ${commandLine(`mcp list${flags}`)}`,
    ),
  );
  output.json({ server: name, directory, held: rules.heldAdded, kept, unset });
}

function orderOf(
  name: string,
  [command, ...args]: readonly string[],
  options: McpAddOptions,
): McpServerOrder {
  const { url, to } = options;
  if ((url === undefined) === (command === undefined)) {
    throw usage(
      'an MCP server has either an address or a command',
      'give --url URL, or the command behind --, such as mcp add files -- node server.mjs',
    );
  }
  if (command === undefined && options.env !== undefined) {
    throw usage('--env is for a command', 'give an address what it needs with --header');
  }
  if (url === undefined && options.header !== undefined) {
    throw usage('--header is for an address', 'give a command what it needs with --env');
  }
  const tools = (list: readonly string[] = []) =>
    list
      .flatMap((text) => text.split(','))
      .map((tool) => tool.trim().replace(`${name}__`, ''))
      .filter((tool) => tool !== '');
  const [allow, deny, held] = [tools(options.allow), tools(options.deny), tools(options.held)];
  if (allow.length > 0 && deny.length > 0) {
    throw usage('a server has one list of tools', 'give --allow or --deny');
  }
  if (to !== undefined && held.length === 0) {
    throw usage('--to is the approval target of held calls', 'give --held as well');
  }
  return {
    ...{ name, args, allow, deny, held },
    headers: pairs('--header', options.header),
    env: pairs('--env', options.env),
    ...(url === undefined ? {} : { url }),
    ...(command === undefined ? {} : { command }),
    ...(to === undefined ? {} : { to }),
  };
}

/** Reads `NAME=value`, or a header in its usual form `Name: value`. Errors never repeat a value. */
function pairs(flag: string, texts: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, label = '', value = ''] =
        (flag === '--header' ? /^([\w-]+)(?:=|:\s*)(.+)$/s : /^(\w+)=(.*)$/s).exec(text) ?? [];
      if (label === '') throw usage(`${flag} takes a name and a value`, `write ${flag} NAME=VALUE`);
      return [label, value];
    }),
  );
}

function usage(message: string, hint: string): CliError {
  return new CliError(message, { code: 'usage', exitCode: exitCodes.usage, hint });
}
