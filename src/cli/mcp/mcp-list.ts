import { commandLine } from '../../actors/command-line.ts';
import {
  fingerprintOf,
  type SeenTool,
  type Standing,
  standingOf,
} from '../../actors/tools/tools.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type McpOptions, readServers, withSeen } from './read-servers.ts';

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

/** `mcp list`: lists the tools that each MCP server offered last and marks the withheld tools. */
export async function mcpList(session: Session, options: McpOptions): Promise<void> {
  const { output } = session;
  const { servers, seen } = await readServers(session, options);
  const listed = servers.map(({ name, url, command }) => {
    const tools = withSeen(seen, () => seen.toolsOf(name));
    return { name, way: url ?? command ?? '', tools: tools?.map(asListed) ?? null };
  });
  output.json({
    servers: listed.map(({ name, tools }) => ({
      name,
      isSeen: tools !== null,
      tools: tools ?? [],
    })),
  });
  for (const { name, way, tools } of listed) {
    output.line(`${output.colours.bold(name)} ${plainLine(way)}`);
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
