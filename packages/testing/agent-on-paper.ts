import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../../src/machines/json.ts';
import type { TestAgentOptions, ToolOnPaper } from './test-agent.ts';

/**
 * Writes the folder of an agent that is given only by its settings, with a script for each tool that is neither builtin
 * nor from an MCP server. The scripts never run.
 */
export function writeAgent(
  folder: string,
  settings: NonNullable<TestAgentOptions['settings']>,
  tools: NonNullable<TestAgentOptions['tools']>,
): void {
  const service = { agent_id: 'test-agent', ...settings };
  const elsewhere = toolsElsewhere(service);
  const written = Object.entries(tools).filter(([name]) => !elsewhere(name));
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  writeFileSync(join(folder, 'service.yaml'), JSON.stringify(service, null, 2));
  if (written.length === 0) return;
  writeFileSync(join(folder, 'SKILL.md'), skillOf(written));
  for (const [name] of written) writeFileSync(join(folder, 'scripts', `${name}.mjs`), '');
}

/** Returns a function that checks whether a tool comes from a source other than a skill. */
function toolsElsewhere(settings: { [key: string]: unknown }): (name: string) => boolean {
  const { builtin_tools: builtin, mcp } = settings;
  const servers = isJsonObject(mcp) && Array.isArray(mcp['servers']) ? mcp['servers'] : [];
  const prefixes = servers.map((server) => `${String((server as { name?: unknown }).name)}__`);
  return (name) =>
    (Array.isArray(builtin) && builtin.includes(name)) ||
    prefixes.some((prefix) => name.startsWith(prefix));
}

function skillOf(tools: [string, string | ToolOnPaper | object][]): string {
  const known = tools.map(([name, tool]) => ({
    name,
    ...(typeof tool === 'object' ? (tool as ToolOnPaper) : {}),
  }));
  const idempotent = known.filter((tool) => tool.idempotent === true).map(({ name }) => name);
  const metadata = JSON.stringify({ service: { idempotent } });
  const sections = known.map(({ name, description, parameters }) =>
    [
      `## Tool: ${name}`,
      description ?? `Stand-in for ${name}.`,
      ...(parameters === undefined ? [] : [`\`\`\`json\n${JSON.stringify(parameters)}\n\`\`\``]),
    ].join('\n\n'),
  );
  const head = `---\nname: test-tools\ndescription: Tools with stand-ins.\nmetadata: ${metadata}\n---`;
  return `${[head, ...sections].join('\n\n')}\n`;
}
