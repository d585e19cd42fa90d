import type { Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Minimum length of a part of a whole URL that is treated as a secret. */
const longPart = 16;

/**
 * Adds to each MCP server the values that `${NAME}` inserted into its headers, variables and URL; these are secrets. The
 * host of a URL is none, and of a value with it only the long parts are.
 */
export function withFilledValues(
  config: ServiceConfig,
  filledAt: (path: Path) => readonly string[],
): ServiceConfig {
  const servers = config.mcp.servers.map((server, index) => {
    const path: Path = ['mcp', 'servers', index];
    const host = URL.parse(server.url ?? '')?.host ?? '';
    const filled = [
      ...(['headers', 'env'] as const).flatMap((key) =>
        Object.keys(server[key]).flatMap((name) => filledAt([...path, key, name])),
      ),
      ...filledAt([...path, 'url']).flatMap((value) => partsBeside(host, value)),
    ];
    return filled.length === 0 ? server : { ...server, filled };
  });
  return { ...config, mcp: { ...config.mcp, servers } };
}

function partsBeside(host: string, value: string): string[] {
  if (host.includes(value)) return [];
  if (!value.includes(host)) return [value];
  return value.split(/[/?&=]/).filter((part) => part.length >= longPart && !part.includes(host));
}
