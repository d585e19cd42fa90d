import { normaliseHost } from '../outbound/outbound.ts';
import { normalName } from '../tool-name.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { McpServerConfig } from './schema-mcp.ts';
import type { ServiceConfig } from './service-schema.ts';
import { holdingRules } from './tool-rules.ts';

/**
 * Checks that each MCP server has a unique name, exactly one transport with only the settings of that transport, and
 * exactly one of `tools.allow` and `tools.deny` (docs/contract/models.md).
 */
export function checkMcp(config: ServiceConfig): Finding[] {
  const { servers } = config.mcp;
  const names = servers.map(({ name }) => name);
  const ofServers = servers.flatMap((server, index) => {
    const path: Path = ['mcp', 'servers', index];
    return [
      ...(names.indexOf(server.name) < index
        ? [
            errorAt(
              [...path, 'name'],
              'another MCP server has the name {value}; rename one of them',
            ),
          ]
        : []),
      ...wayFaults(server, path),
      ...listFaults(server, path),
      ...questionFaults(server, path, config),
      ...(server.total_timeout < server.timeout
        ? [errorAt([...path, 'total_timeout'], 'total_timeout is shorter than timeout; raise it')]
        : []),
    ];
  });
  return [...ofServers, ...viewFaults(config)];
}

/** Views tell callers apart, so they need callers with names (docs/mcp.md). */
function viewFaults({ mcp: { views }, server, auth }: ServiceConfig): Finding[] {
  if (views.length === 0) return [];
  const path: Path = ['mcp', 'views'];
  if (server.mcp === false) {
    return [warningAt(path, 'views are for callers of /mcp, which is off; set server.mcp: true')];
  }
  const isNamed = auth.providers.length > 0 || auth.dashboard_issuer !== undefined;
  if (isNamed) return [];
  const message =
    'without auth.providers no caller has a view, so all have no tool; add a provider';
  return [warningAt(path, message)];
}

function wayFaults(server: McpServerConfig, path: Path): Finding[] {
  const { url, command, args, env, headers, auth } = server;
  if ((url === undefined) === (command === undefined)) {
    const message = 'an MCP server has either a url or a command; write one of the two';
    return [errorAt(path, message)];
  }
  if (url === undefined) {
    return [
      ...(Object.keys(headers).length === 0
        ? []
        : [errorAt([...path, 'headers'], 'headers are sent to a url; a command has env')]),
      ...(auth === undefined
        ? []
        : [errorAt([...path, 'auth'], 'auth is for a url; a command has env')]),
    ];
  }
  return [
    ...(isMcpUrl(url)
      ? []
      : [
          errorAt(
            [...path, 'url'],
            'the address of an MCP server is an http or https URL without credentials and #, such as https://shop.example.com/mcp',
          ),
        ]),
    ...(args.length === 0 ? [] : [errorAt([...path, 'args'], 'args belong to a command')]),
    ...(Object.keys(env).length === 0
      ? []
      : [errorAt([...path, 'env'], 'env belongs to a command; a url has headers')]),
    ...authFaults(server, [...path, 'auth']),
  ];
}

function authFaults({ auth, headers }: McpServerConfig, path: Path): Finding[] {
  if (auth === undefined) return [];
  const { type, client_id: id, client_secret: secret, issuer } = auth;
  const isTwice = Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
  const needed = type === 'client_credentials' && (id === undefined || secret === undefined);
  return [
    ...(isTwice
      ? [errorAt(path, 'auth and the header Authorization exclude each other; remove one of them')]
      : []),
    ...(needed
      ? [errorAt(path, 'client_credentials needs client_id and client_secret; add both')]
      : []),
    ...(id === undefined && secret !== undefined
      ? [errorAt([...path, 'client_secret'], 'a client_secret belongs to a client_id; add it')]
      : []),
    ...(secret !== undefined && issuer === undefined
      ? [
          warningAt(
            [...path, 'client_secret'],
            'the secret is sent to the issuer that the server names first; name it in issuer',
          ),
        ]
      : []),
  ];
}

/** Only the approval of a person answers a question, and fields are filled in as changed arguments. */
function questionFaults(
  { name, elicitation }: McpServerConfig,
  path: Path,
  { gate, security: { defer } }: ServiceConfig,
): Finding[] {
  if (elicitation === 'refuse') return [];
  const at = [...path, 'elicitation'];
  if (gate !== undefined) {
    return [errorAt(at, 'a gate refuses the questions of servers; remove this line')];
  }
  const tool = `${name}__elicitation`;
  const rules = holdingRules(defer.tools).filter(
    (one) => normalName(one.tool) === normalName(tool),
  );
  const advice = `write security.defer.tools.${tool}: {to: <target>, edit: true}, with enabled: true`;
  if (!defer.enabled || rules.length === 0) {
    return [errorAt(at, `no rule says who answers the questions of ${name}; ${advice}`)];
  }
  return rules
    .filter(({ rule }) => !rule.edit)
    .map((one) =>
      errorAt([...one.path], 'approvers answer a question by changed arguments; add edit: true'),
    );
}

function listFaults({ tools }: McpServerConfig, path: Path): Finding[] {
  if ((tools.allow === undefined) !== (tools.deny === undefined)) return patternFaults(tools, path);
  const message =
    'an MCP server has either tools.allow or tools.deny; write one of the two (deny: [] is every tool)';
  return [errorAt([...path, 'tools'], message)];
}

/** Other products allow patterns here; as a name a pattern matches no tool. */
function patternFaults({ allow, deny }: McpServerConfig['tools'], path: Path): Finding[] {
  const [key, names] = allow === undefined ? ['deny', deny ?? []] : ['allow', allow];
  return names.flatMap((name, index) =>
    name.includes('*')
      ? [
          errorAt(
            [...path, 'tools', key, index],
            'this must be the name of a tool, not a pattern; deny: [] is every tool, and allow: [] none',
          ),
        ]
      : [],
  );
}

function isMcpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[#\s]/.test(text) || url.username !== '' || url.password !== '') {
    return false;
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  return normaliseHost(url.hostname) !== null;
}
