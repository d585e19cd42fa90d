/** A key of another product's configuration, and its place here. */
export interface ForeignKey {
  /** Path with dots; `*` stands for any key or index. */
  path: string;
  /** Path here, with the same number of `*`; absent if there is none. */
  to?: string;
  /** What is lost, and what to do instead; one clause. */
  lost?: string;
  /** True if the key restricts something, so that losing it is an error. */
  isControl?: boolean;
}

const same = (...paths: string[]): ForeignKey[] => paths.map((path) => ({ path, to: path }));

const control = (path: string, lost: string): ForeignKey => ({ path, lost, isControl: true });

/** Keys of the `forge.yaml` of Forge. Keys whose values change as well are also in `move-forge.ts`. */
export const forgeKeys: readonly ForeignKey[] = [
  ...same('agent_id', 'version', 'description'),
  { path: 'framework', lost: 'the loop of Holdpoint runs the agent' },
  {
    path: 'entrypoint',
    lost: 'the code of an agent stays where it runs; put a gate before its calls',
  },
  { path: 'registry', lost: 'no image is built; deploy/ has a Dockerfile' },
  { path: 'package', lost: 'no image is built; deploy/ has a Dockerfile' },

  { path: 'model.provider', to: 'model.provider' },
  ...same('model.name', 'model.base_url', 'model.organization_id'),
  control(
    'model.auth_scheme',
    'the key goes in the header of the provider; set up the gateway for that',
  ),
  control('model.aws_region', 'requests to a model are not signed; use a gateway that signs them'),
  control(
    'model.auth_header_name',
    'the key goes in the header of the provider; set up the gateway for that',
  ),
  { path: 'model.disable_store', lost: 'the provider openai is always asked to store nothing' },
  { path: 'model.fallbacks.*.provider', to: 'model.fallbacks.*.provider' },
  ...same(
    'model.fallbacks.*.name',
    'model.fallbacks.*.base_url',
    'model.fallbacks.*.organization_id',
  ),

  { path: 'tools.*.name', to: 'builtin_tools.*' },
  { path: 'tools.*.config.allowed_binaries', to: 'tools.*.config.commands' },
  {
    path: 'tools.*.config.max_output_bytes',
    lost: 'a result has at most 1 MiB',
  },
  { path: 'tools.*.config.timeout', to: 'tools.*.config.timeout' },
  {
    path: 'tools.*.config.env_passthrough',
    lost: 'a program of cli_execute gets no variables; write a script with metadata.service.requires.env',
  },
  { path: 'channels.*', lost: 'a channel has a file of its own; docs/channels.md sets it up' },

  { path: 'egress.profile', lost: 'egress.mode alone decides' },
  ...same(
    'egress.mode',
    'egress.allowed_domains.*',
    'egress.allow_private_ips',
    'egress.allowed_private_cidrs.*',
  ),
  { path: 'egress.capabilities.*', lost: 'list its hosts in egress.allowed_domains' },
  { path: 'egress.allowed_tcp.*', lost: 'tools reach hosts over HTTP alone' },

  {
    path: 'mcp.token_store_path',
    lost: 'tokens are variables, in .service/.env or the encrypted secrets',
  },
  ...same('mcp.servers.*.name', 'mcp.servers.*.url', 'mcp.servers.*.timeout'),
  { path: 'mcp.servers.*.transport', lost: 'a server with a url speaks streamable HTTP' },
  { path: 'mcp.servers.*.tools', to: 'mcp.servers.*.tools', isControl: true },
  control(
    'mcp.servers.*.required',
    'an agent starts without the tools of a server that it does not reach; check mcp list',
  ),
  { path: 'mcp.servers.*.auth', to: 'mcp.servers.*.auth', isControl: true },
  {
    path: 'apis',
    lost: 'there are no tools from an OpenAPI document; write a script or an MCP server',
  },

  { path: 'cors_origins.*', to: 'server.cors_origins.*' },
  ...same(
    'workflow_propagation.allowed_hosts.*',
    'server.public_url',
    'server.rate_limit.read_rps',
    'server.rate_limit.read_burst',
  ),
  ...same(
    'server.rate_limit.write_rps',
    'server.rate_limit.write_burst',
    'server.rate_limit.cancel_exempt',
  ),

  ...same('auth.required', 'auth.providers.*.type', 'auth.providers.*.settings'),
  ...same('secrets.providers.*'),

  { path: 'memory', lost: 'tasks and sessions are in store; there is no memory across sessions' },
  { path: 'compression', lost: 'results are not compressed; model.context_budget bounds a turn' },
  {
    path: 'schedules',
    lost: 'nothing starts tasks by the clock; send them to POST /tasks/send from cron',
  },
  {
    path: 'scheduler',
    lost: 'nothing starts tasks by the clock; send them to POST /tasks/send from cron',
  },

  ...same('observability.tracing.enabled', 'observability.tracing.endpoint'),
  ...same('observability.tracing.service_name', 'observability.tracing.sampler'),
  {
    path: 'observability.tracing.sampler_ratio',
    lost: 'write it after the sampler, such as parentbased_traceidratio:0.1',
  },
  { path: 'observability.tracing.protocol', lost: 'traces are sent as http/protobuf' },
  { path: 'observability.tracing.timeout', lost: 'the exporter has its own timeout' },
  { path: 'observability.tracing.headers', lost: 'set OTEL_EXPORTER_OTLP_HEADERS' },
  { path: 'observability.tracing.resource_attrs', lost: 'set OTEL_RESOURCE_ATTRIBUTES' },
  { path: 'observability.tracing.redact', lost: 'spans have no arguments, results or messages' },
  {
    path: 'observability.tracing.capture_content',
    lost: 'spans have no arguments, results or messages',
  },

  control(
    'security.policy_path',
    'there is no scan of skills at build time; review them with holdpoint skills validate',
  ),
  ...same(
    'security.intent_alignment.enabled',
    'security.intent_alignment.provider',
    'security.intent_alignment.model',
  ),
  ...same(
    'security.intent_alignment.base_url',
    'security.intent_alignment.api_key_env',
    'security.intent_alignment.timeout',
  ),
  ...same('security.intent_alignment.threshold', 'security.intent_alignment.hard_threshold'),
  { path: 'security.intent_alignment.cache_size', lost: 'the cache has its own size' },
  {
    path: 'security.intent_drift.enabled',
    to: 'security.intent_alignment.drift',
  },
  { path: 'security.intent_drift.window', to: 'security.intent_alignment.drift.window' },
  {
    path: 'security.intent_drift.drift_threshold',
    to: 'security.intent_alignment.drift.drift_threshold',
  },
  { path: 'security.intent_drift.monotone_n', to: 'security.intent_alignment.drift.monotone_n' },
  ...same(
    'security.step_up.enabled',
    'security.step_up.tools.*',
    'security.step_up.acr_hierarchy.*',
  ),
  ...same(
    'security.defer.enabled',
    'security.defer.default_timeout',
    'security.defer.default_approvers.*',
  ),
  ...same('security.defer.tools.*.to', 'security.defer.tools.*.timeout'),
  ...same('security.defer.tools.*.context_template', 'security.defer.tools.*.approvers.*'),
  control('security.pdp', 'calls are judged by the rules under security, not by another service'),
  ...same('credentials.*.tool', 'credentials.*.provider', 'credentials.*.spec'),
  control(
    'credentials.*.binary',
    'a credential is for a tool; give each program a tool of its own',
  ),

  { path: 'guardrails.customRules.rules.*', to: 'security.guardrails', isControl: true },
  control('guardrails.customRules', 'only its rules are read'),
  control(
    'guardrails.pii',
    'messages and answers are not searched; security.guardrails.redact: [pii] searches the results of tools',
  ),
  control(
    'guardrails.security',
    'there is no detection of jailbreaks and injections; write deny_prompts and deny_commands',
  ),
  control('guardrails.moderation', 'there is no moderation; write deny_prompts'),
  control('guardrails.urlFilter', 'there is no filter for URLs; egress decides what is reached'),
  control('guardrails.approvalGates', 'write security.defer.tools'),
  control('guardrails.nsfwText', 'there is no moderation; write deny_prompts'),
  control('guardrails.hallucination', 'answers are not judged'),
  control('guardrails.skillConstraints', 'remove the skills that the agent must not have'),
  { path: 'platform', lost: 'there is no platform behind an agent' },
  { path: 'guardrails.gateConfig', lost: 'each rule says what it matches' },
  { path: 'guardrails_path', to: 'security.guardrails', isControl: true },
];

/** Keys of a server in the MCP settings of Claude, Cursor, VS Code and others. */
export const serverKeys: readonly ForeignKey[] = [
  ...same('command', 'args', 'env', 'url', 'headers', 'timeout'),
  { path: 'environment', to: 'env' },
  { path: 'serverUrl', to: 'url' },
  { path: 'httpUrl', to: 'url' },
  { path: 'http_headers', to: 'headers' },
  { path: 'env_http_headers', to: 'headers' },
  { path: 'bearer_token_env_var', to: 'headers' },
  { path: 'type', to: 'url or command' },
  { path: 'transport', to: 'url or command' },
  { path: 'disabledTools', to: 'tools.deny' },
  { path: 'disabled_tools', to: 'tools.deny' },
  { path: 'excludeTools', to: 'tools.deny' },
  { path: 'enabledTools', to: 'tools.allow' },
  { path: 'enabled_tools', to: 'tools.allow' },
  { path: 'includeTools', to: 'tools.allow' },
  { path: 'tools', to: 'tools.allow' },
  { path: 'tool_timeout_sec', to: 'timeout' },
  { path: 'startup_timeout_sec', lost: 'a server is tried again until it starts' },
  { path: 'startup_timeout_ms', lost: 'a server is tried again until it starts' },
  { path: 'disabled', lost: 'a server is on while it is listed' },
  { path: 'enabled', lost: 'a server is on while it is listed' },
  { path: 'alwaysAllow', lost: 'the rules under security decide for each call' },
  { path: 'autoApprove', lost: 'the rules under security decide for each call' },
  { path: 'trust', lost: 'the rules under security decide for each call' },
  { path: 'cwd', lost: 'a server runs in the folder of the agent; write absolute paths' },
  { path: 'envFile', lost: 'put its variables in .service/.env and name them in env' },
  { path: 'dev', lost: 'it is for the editor' },
  { path: 'gallery', lost: 'it is for the editor' },
  { path: 'description', lost: 'it is for the editor' },
  { path: 'source', lost: 'it is for the editor' },
  { path: 'sandboxEnabled', lost: 'every server over stdio runs in the sandbox' },
  control(
    'sandbox',
    'the sandbox of Holdpoint decides what a server reads, writes and reaches; see docs/mcp.md',
  ),
  { path: 'oauth', to: 'auth', isControl: true },
  { path: 'auth', to: 'auth', isControl: true },
  control('authProviderType', 'write auth with the type of the grant'),
  control('headersHelper', 'a header is a string; name a variable in it'),
];

/** Sections of other products that people write into `service.yaml`. */
const sections: readonly ForeignKey[] = [
  { path: 'mcpServers', to: 'mcp.servers' },
  { path: 'mcp_servers', to: 'mcp.servers' },
  { path: 'context_servers', to: 'mcp.servers' },
  control('permissions', 'write the rules under security'),
  control('guardrails', 'write security.guardrails'),
];

/** Values of other products by their key, with the name here. */
export const foreignValues: Readonly<Record<string, string>> = {
  gemini: 'google',
  'google-genai': 'google',
  'openai-responses': 'openai',
  azure_ad: 'directory_ad',
  entra_id: 'directory_ad',
  gcp_iap: 'cloud_iap',
  aws_sigv4: 'cloud_sigv4',
  json_parse: 'json_query',
};

/** Returns what a value of another product is called here; `null` for another value. */
export function foreignValueOf(value: string): string | null {
  return Object.hasOwn(foreignValues, value) ? (foreignValues[value] ?? null) : null;
}

/** Finds the entry for a path in a table: an exact one, else the nearest above it. */
export function foreignKeyAt(
  table: readonly ForeignKey[],
  path: readonly (string | number)[],
): { key: ForeignKey; isExact: boolean } | null {
  for (let length = path.length; length > 0; length -= 1) {
    const key = table.find((one) => matches(one.path.split('.'), path.slice(0, length)));
    if (key !== undefined) return { key, isExact: length === path.length };
  }
  return null;
}

/** Returns whether a table has entries below a path. */
export function isAboveForeignKeys(
  table: readonly ForeignKey[],
  path: readonly (string | number)[],
): boolean {
  return table.some((one) => {
    const steps = one.path.split('.');
    return steps.length > path.length && matches(steps.slice(0, path.length), path);
  });
}

/** Returns what a key of another product in `service.yaml` is here; `null` for an unknown one. */
export function foreignKeyOf(path: readonly (string | number)[]): ForeignKey | null {
  const table = [...sections, ...forgeKeys];
  // A list is in the table by its entries.
  for (const place of [path, [...path, 0]]) {
    const found = foreignKeyAt(table, place);
    if (found?.isExact === true) return found.key;
  }
  const [mcp, servers, index, ...rest] = path;
  if (mcp !== 'mcp' || servers !== 'servers' || index === undefined) return null;
  const server = foreignKeyAt(serverKeys, rest);
  if (server?.isExact !== true) return null;
  const { key } = server;
  return { ...key, ...(key.to === undefined ? {} : { to: `mcp.servers.*.${key.to}` }) };
}

function matches(pattern: readonly string[], path: readonly (string | number)[]): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, index) => step === '*' || step === String(path[index]))
  );
}
