import { commandLine } from '../../actors/command-line.ts';
import {
  fingerprintOf,
  type SeenTool,
  type Standing,
  shownPlace,
  standingOf,
} from '../../actors/tools/tools.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type McpOptions, readServers, withSeen } from './read-servers.ts';
import { healthLine, serverHealth } from './server-health.ts';

interface Listed extends SeenTool {
  /** `gone` if the tool is no longer offered. */
  standing: Standing | 'gone';
}

const words: Record<Listed['standing'], string> = {
  accepted: 'in use',
  changed: 'withheld: it is not what was seen',
  new: 'withheld: it has not been accepted yet',
  gone: 'not offered now',
};

/**
 * `mcp list`: lists the tools that each MCP server offered last, marks the withheld tools, and shows the health of the
 * servers while the agent runs.
 */
export async function mcpList(session: Session, options: McpOptions): Promise<void> {
  const { output } = session;
  const { servers, seen } = await readServers(session, options);
  const running = servers.length === 0 ? [] : await serverHealth(options.dir);
  const listed = servers.map((server) => {
    const { name } = server;
    const tools = withSeen(seen, () => seen.toolsOf(name));
    const health = running.find((one) => one.name === name) ?? null;
    return { name, way: shownPlace(server), tools: tools?.map(asListed) ?? null, health };
  });
  output.json({
    servers: listed.map(({ name, tools, health }) => ({
      name,
      isSeen: tools !== null,
      tools: tools ?? [],
      ...(health === null ? {} : { health }),
    })),
  });
  for (const { name, way, tools, health } of listed) {
    output.line(`${output.colours.bold(name)} ${plainLine(way)}`);
    if (health !== null) output.line(`  ${plainLine(healthLine(health))}`);
    if (tools === null) output.line('  the agent has not received its tools yet');
    for (const tool of tools ?? []) for (const line of toolLines(tool)) output.line(line);
  }
  for (const { name, tools } of listed) {
    const withheld = tools?.filter(isWithheld).map(fingerprintOf) ?? [];
    if (withheld.length === 0) continue;
    const accept = commandLine(`mcp accept ${name} ${withheld.join(' ')}`);
    output.note(plainLine(`accept them with \`${accept}\``));
  }
  if (listed.length === 0) output.note('service.yaml names no MCP server');
}

function asListed(tool: SeenTool): Listed {
  return { ...tool, standing: tool.offered === null ? 'gone' : standingOf(tool) };
}

function isWithheld({ standing }: Listed): boolean {
  return standing === 'new' || standing === 'changed';
}

function toolLines(tool: Listed): string[] {
  const { name, standing, accepted, offered } = tool;
  const head = `  ${plainLine(name)}: ${words[standing]}`;
  if (!isWithheld(tool)) return [head];
  return [
    head,
    ...(accepted === null ? [] : definitionLines('seen', accepted)),
    ...(offered === null ? [] : definitionLines('offered', offered)),
  ];
}

function definitionLines(
  label: string,
  { description, parameters }: NonNullable<SeenTool['offered']>,
): string[] {
  return [
    `    ${label.padEnd(8)} ${plainLine(description)}`,
    `    ${''.padEnd(8)} ${plainLine(JSON.stringify(parameters))}`,
  ];
}
