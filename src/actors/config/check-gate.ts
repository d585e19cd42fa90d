import { matchesPrefix } from '../tool-name.ts';
import { checkTarget } from './check-targets.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/**
 * Checks `gate`: a gate has no model, and runs no tools but those of its MCP servers (docs/gate.md). No entry of the gate
 * may cover a tool of a server.
 */
export function checkGate(config: ServiceConfig, isWritten: (path: Path) => boolean): Finding[] {
  const { gate, builtin_tools, credentials, security } = config;
  if (gate === undefined) return [];
  const { defer } = security;
  const unused = 'a gate runs no tools itself';
  return [
    ...(isWritten(['model']) ? [errorAt(['model'], 'a gate has no model; remove this key')] : []),
    ...(builtin_tools.length === 0
      ? []
      : [errorAt(['builtin_tools'], `${unused}; remove this key`)]),
    ...(credentials.length === 0
      ? []
      : [errorAt(['credentials'], `${unused}, so no call uses credentials; remove this key`)]),
    ...(isWritten(['security', 'defer', 'on_restart']) && defer.on_restart === 'abandon'
      ? [
          errorAt(
            ['security', 'defer', 'on_restart'],
            'a gate keeps waiting calls at a restart, since their programs ask again; remove this key',
          ),
        ]
      : []),
    ...checkServers(config),
    ...checkUnknown(config),
    ...checkSignIn(config),
    ...(gate.unknown === 'defer' ? checkTarget(gate.to, ['gate', 'to'], config) : []),
  ];
}

/** A gate with MCP servers is a gateway: its servers run the calls of MCP clients (docs/mcp.md). */
function checkServers({ gate, mcp: { servers }, server }: ServiceConfig): Finding[] {
  const entries = Object.keys(gate?.tools ?? {});
  return [
    ...(servers.length > 0 && server.mcp === false
      ? [
          warningAt(
            ['mcp', 'servers'],
            'no program can call the tools of these servers; set server.mcp: true',
          ),
        ]
      : []),
    ...entries.flatMap((entry) => {
      const covered = servers.find(({ name }) => matchesPrefix(entry, `${name}__`));
      if (covered === undefined) return [];
      const message = `this entry also covers tools of the MCP server ${covered.name}, which run here; name the tools of other programs otherwise`;
      return [errorAt(['gate', 'tools', entry], message)];
    }),
  ];
}

/** Without sign-in, a program that asks the gate is not distinguished from a person. */
function checkSignIn({ auth: { providers, required } }: ServiceConfig): Finding[] {
  if (providers.length > 0) return [];
  const asking = required ? 'a program that reads the token of this folder' : 'every program';
  const message = `without auth.providers ${asking} can ask this gate and decide on its own calls; add a provider, and approvers to the rules`;
  return [warningAt(['gate'], message, ['auth', 'providers'])];
}

function checkUnknown({ gate, mcp }: ServiceConfig): Finding[] {
  const { tools = {}, unknown } = gate ?? {};
  const hasTools = Object.keys(tools).length > 0 || mcp.servers.length > 0;
  if (unknown === 'deny' && !hasTools) {
    const message =
      'the gate lists no tools and denies all others, so it denies every call; add tools, or set unknown';
    return [warningAt(['gate'], message)];
  }
  return [];
}
