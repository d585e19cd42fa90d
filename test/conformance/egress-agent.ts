import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { startInFolder, type TestAgent } from '../helpers/test-agent.ts';

/** All of `service.yaml` that has to do with what leaves an agent. */
export interface OutwardSettings extends Omit<ServiceSettings, 'security'> {
  builtin_tools?: string[];
  egress?: object;
  workflow_propagation?: object;
  observability?: object;
  security?: { [layer: string]: object };
  credentials?: object[];
}

/** Settings under which every address of this machine is listed and opened. */
export const loopbackOpen = {
  allowed_domains: ['127.0.0.1', '127.0.0.2', '127.0.0.3', 'localhost'],
  allowed_private_cidrs: ['127.0.0.0/8'],
};

/**
 * The folder of an agent with `http_request`, removed after the test. `scripts` are contents by file
 * name, such as `ask.py`; each becomes a tool that takes a string `url`.
 */
export function outwardFolder(
  settings: OutwardSettings = {},
  scripts: Record<string, string> = {},
): AgentFolder {
  const service = { builtin_tools: ['http_request'], ...settings };
  const folder = new AgentFolder(service as ServiceSettings);
  onTestFinished(() => folder.remove());
  for (const [file, content] of Object.entries(scripts)) {
    writeFileSync(join(folder.path, 'scripts', file), content);
  }
  const names = Object.keys(scripts).map((file) => file.replace(/\.\w+$/, ''));
  if (names.length > 0) writeFileSync(join(folder.path, 'SKILL.md'), skillOf(names));
  return folder;
}

/** Starts an agent with `http_request` and these settings. */
export function startOutward(
  settings: OutwardSettings = {},
  env: NodeJS.ProcessEnv = {},
): Promise<TestAgent> {
  return startInFolder(outwardFolder(settings), env);
}

/** A script of the model that asks for a URL and says what came back. */
export function asking(url: string, args: object = {}): object[] {
  return [{ tool: 'http_request', args: { url, ...args } }, { say: '{result}' }];
}

function skillOf(names: readonly string[]): string {
  const sections = names.map(
    (name) => `## Tool: ${name}\n\nDoes what ${name} does.\n\n**Input:** url (string, optional)\n`,
  );
  return `---\nname: outward\ndescription: Tools that reach out.\n---\n${sections.join('\n')}`;
}
