import { checkTarget } from './check-targets.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks `gate`: the tools of a gate run at other programs, so it has no model and runs no tools (docs/gate.md). */
export function checkGate(config: ServiceConfig, isWritten: (path: Path) => boolean): Finding[] {
  const { gate, builtin_tools, credentials, mcp, security } = config;
  if (gate === undefined) return [];
  const { defer } = security;
  const unused = 'a gate runs no tools itself';
  return [
    ...(isWritten(['model']) ? [errorAt(['model'], 'a gate has no model; remove this key')] : []),
    ...(builtin_tools.length === 0
      ? []
      : [errorAt(['builtin_tools'], `${unused}; remove this key`)]),
    ...(mcp.servers.length === 0
      ? []
      : [errorAt(['mcp', 'servers'], `${unused}; remove this key`)]),
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
    ...checkUnknown(gate),
    ...(gate.unknown === 'defer' ? checkTarget(gate.to, ['gate', 'to'], config) : []),
  ];
}

function checkUnknown({ tools, unknown }: NonNullable<ServiceConfig['gate']>): Finding[] {
  if (unknown === 'deny' && Object.keys(tools).length === 0) {
    const message =
      'the gate lists no tools and denies all others, so it denies every call; add tools, or set unknown';
    return [warningAt(['gate'], message)];
  }
  return [];
}
