import type { Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Adds to each MCP server the values that `${NAME}` inserted into its headers and variables; these are secrets. */
export function withFilledValues(
  config: ServiceConfig,
  filledAt: (path: Path) => readonly string[],
): ServiceConfig {
  const servers = config.mcp.servers.map((server, index) => {
    const filled = (['headers', 'env'] as const).flatMap((key) =>
      Object.keys(server[key]).flatMap((name) => filledAt(['mcp', 'servers', index, key, name])),
    );
    return filled.length === 0 ? server : { ...server, filled };
  });
  return { ...config, mcp: { ...config.mcp, servers } };
}
