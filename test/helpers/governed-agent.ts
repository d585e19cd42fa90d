import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { LanguageModel } from '../../src/actors/ports/model.ts';
import { type Agent, startAgent } from '../../src/agent/start/start-agent.ts';
import { AgentFolder, type ServiceSettings } from './agent-folder.ts';
import { startAgentWithModel } from './agent-with-model.ts';
import { storeEnvironment } from './kept-store.ts';
import { logTo, TestAgent } from './test-agent.ts';

/** All of `service.yaml` that governs calls. */
export interface GovernedSettings {
  security?: { [layer: string]: object };
  credentials?: object[];
  audit?: object;
  auth?: object;
  model?: { script: object[] };
  tools?: { name: string; idempotent: boolean }[];
}

/** How a governed agent is started. */
export interface GovernedOptions {
  env?: Record<string, string>;
  /** Lines of the skill's frontmatter under `metadata`. */
  metadata?: string[];
  /** The folder of an agent that was stopped; its settings stay, and its creator removes it. */
  folder?: AgentFolder;
  /** Takes the place of the scripted model. */
  model?: LanguageModel;
}

/**
 * The tools of a governed agent. Each leaves a line of its name and arguments first, so that a run
 * shows. `pay` and `pay_out` answer with their arguments, `tell` with a string, `sign` with what it signs in with,
 * `encode` with the same in base64, and `fall` fails with a string.
 */
const scripts: Record<string, { input: string; body: string }> = {
  pay: { input: 'amount (number), to (string, optional)', body: 'printf "%s" "$args"' },
  pay_out: { input: 'amount (number), to (string, optional)', body: 'printf "%s" "$args"' },
  tell: { input: 'text (string)', body: `printf "%s" "$args" | sed 's/^{"text":"//;s/"}$//'` },
  sign: {
    input: 'memo (string, optional)',
    body: 'printf "key=%s id=%s" "$PAY_TOKEN" "$AWS_ACCESS_KEY_ID"',
  },
  encode: { input: 'none', body: 'printf "as %s" "$PAY_TOKEN" | base64 -w 0' },
  fall: { input: 'text (string)', body: 'printf "%s %s" "$args" "$PAY_TOKEN" >&2\nexit 3' },
};

/** A folder whose tools are governed. */
class GovernedFolder extends AgentFolder {
  constructor(settings: GovernedSettings, metadata: string[]) {
    super(settings as ServiceSettings);
    writeFileSync(join(this.path, 'SKILL.md'), skill(metadata));
    for (const [name, { body }] of Object.entries(scripts)) {
      const trace = `printf "${name} %s\\n" "$args" >> "$SERVICE_AGENT_DIR/ran"`;
      const script = `args=$(cat)\n${trace}\n${body}\n`;
      writeFileSync(join(this.path, 'scripts', `${name}.sh`), script);
    }
  }
}

/** An agent whose calls are governed, as a caller without a token sees it. */
export class GovernedAgent extends TestAgent {
  /** Every run of a tool so far, in order: its name and the arguments it got. */
  get ran(): [tool: string, args: unknown][] {
    return linesOf(join(this.folder.path, 'ran')).map((line) => {
      const space = line.indexOf(' ');
      return [line.slice(0, space), JSON.parse(line.slice(space + 1))];
    });
  }
}

/** Starts a governed agent that is closed after the test. */
export async function startGovernedAgent(
  settings: GovernedSettings,
  options: GovernedOptions = {},
): Promise<GovernedAgent> {
  const folder = options.folder ?? new GovernedFolder(settings, options.metadata ?? []);
  const log: TestAgent['log'] = [];
  const agent = await start(folder.path, options, log).catch((error: unknown) => {
    folder.remove();
    throw error;
  });
  const governed = new GovernedAgent(agent, folder, log);
  onTestFinished(() => (options.folder === undefined ? governed.close() : governed.stop()));
  return governed;
}

function start(
  directory: string,
  { env = {}, model }: GovernedOptions,
  lines: TestAgent['log'],
): Promise<Agent> {
  const log = logTo(lines);
  if (model !== undefined) return startAgentWithModel(directory, model, log);
  const host = '127.0.0.1';
  return startAgent({
    ...{ directory, host, port: 0, noAuth: false, inspectPort: null, log },
    env: { ...storeEnvironment(), ...env },
  });
}

function skill(metadata: string[]): string {
  const frontmatter = ['name: till', 'description: Tools that are governed.', ...metadata];
  const sections = Object.entries(scripts).map(
    ([name, { input }]) => `## Tool: ${name}\n\nDoes what ${name} does.\n\n**Input:** ${input}\n`,
  );
  return `---\n${frontmatter.join('\n')}\n---\n${sections.join('\n')}`;
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
