import { providerAddress as verifierAddress } from '../../actors/access/access.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { credentialAddresses, embedderAddress } from '../../actors/governance/governance.ts';
import { type DerivedEndpoint, readHostPattern } from '../../actors/outbound/outbound.ts';
import { providerAddress } from '../../actors/providers/providers.ts';
import { normalName } from '../../actors/tool-name.ts';
import { type Skill, searchService } from '../../actors/tools/tools.ts';

/** The settings outside `service.yaml` that name hosts. */
export interface EndpointSettings {
  env: NodeJS.ProcessEnv;
  /** URL of the admission platform; `null` if admission is off. */
  admissionUrl: string | null;
  /** URL of the trace exporter; `null` if tracing is off. */
  tracingUrl: string | null;
  skills: readonly Pick<Skill, 'id' | 'egressDomains'>[];
  channels: ChannelAddresses;
}

/** API URLs of the channel adapters; `null` for an adapter that is not running. */
export interface ChannelAddresses {
  slack: { apiUrl: string } | null;
  telegram: { apiUrl: string } | null;
  webhook: { targets: Readonly<Record<string, { url: string }>> } | null;
  teams?: ChannelAddresses['webhook'];
  email?: { host: string; port: number } | null;
}

/** A setting and the URL that it names. */
type Named = [source: string, url: string | null];

/**
 * Lists every host named by an agent's settings, each with its source (docs/contract/egress.md). Hosts from the
 * operator's settings are for the daemon. Hosts declared by a skill are for its scripts. Values that are not URLs are
 * ignored.
 */
export function derivedEndpoints(
  config: ServiceConfig,
  settings: EndpointSettings,
): DerivedEndpoint[] {
  const { security, credentials, audit } = config;
  const { env, admissionUrl, tracingUrl, skills, channels } = settings;
  const named: Named[] = [
    ...config.auth.providers.map(
      (provider, index): Named => [`auth.providers.${index}`, verifierAddress(provider)],
    ),
    ['approvals.sign_in', config.approvals?.sign_in.issuer ?? null],
    // Patterns of hosts are opened when a browser names one of them; only an origin on loopback is a single place.
    ...(config.approvals?.push_services ?? []).map(
      (service): Named => ['approvals.push_services', service.includes('://') ? service : null],
    ),
    ['SERVICE_ADMISSION_URL', admissionUrl],
    ['security.intent_alignment', embedderAddress(security.intent_alignment)],
    ...modelAddresses(config.model),
    ...credentialAddresses(credentials, env).map(
      ({ index, url }): Named => [`credentials.${index}`, url],
    ),
    ['observability.tracing', tracingUrl],
    ...audit.sinks.map(
      (sink, index): Named => [`audit.sinks.${index}`, sink.type === 'http' ? sink.url : null],
    ),
    ...config.mcp.servers.flatMap(({ url = null, auth }, index): Named[] => [
      [`mcp.servers.${index}`, url],
      [`mcp.servers.${index}.auth`, auth?.issuer ?? null],
    ]),
    ...searchAddress(config),
    ...config.channels.flatMap((channel, index) =>
      channelAddresses(channel, channels).map((url): Named => [`channels.${index}`, url]),
    ),
  ];
  return [
    ...named.flatMap(([source, url]) => endpointAt(url, source)),
    ...declaredEndpoints(skills),
  ];
}

/** Lists every host that skills declare for their scripts. */
export function declaredEndpoints(skills: EndpointSettings['skills']): DerivedEndpoint[] {
  return skills.flatMap(({ id, egressDomains }) =>
    egressDomains.flatMap((domain) => skillEndpoints(domain, id)),
  );
}

function modelAddresses({ provider, base_url, fallbacks }: ServiceConfig['model']): Named[] {
  return [
    ['model', providerAddress(provider, base_url)],
    ...fallbacks.map(
      (fallback, index): Named => [
        `model.fallbacks.${index}`,
        providerAddress(fallback.provider, fallback.base_url),
      ],
    ),
  ];
}

/** The search API that `web_search` calls with the operator's key. Other tools must not reach it. */
function searchAddress({ builtin_tools, tools }: ServiceConfig): Named[] {
  if (!builtin_tools.includes('web_search')) return [];
  const index = tools.findIndex(({ name }) => normalName(name) === normalName('web_search'));
  const source = index === -1 ? 'builtin_tools' : `tools.${index}`;
  return [[source, searchService(tools[index]?.config ?? {}).url]];
}

/** Returns the hosts named by the channel files; empty for an adapter that is not running. */
function channelAddresses(channel: string, channels: ChannelAddresses): string[] {
  switch (channel) {
    case 'slack':
      return slackAddresses(channels.slack?.apiUrl);
    case 'telegram':
      return [channels.telegram?.apiUrl].filter((url) => url !== undefined);
    case 'webhook':
    case 'teams':
      return Object.values(channels[channel]?.targets ?? {}).map(({ url }) => url);
    case 'email':
      return channels.email ? [serverUrl(channels.email)] : [];
    default:
      return [];
  }
}

/** Returns a URL with host and port of a server that takes no HTTP. */
function serverUrl({ host, port }: { host: string; port: number }): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Slack serves files and sockets from separate hosts. */
function slackAddresses(apiUrl: string | undefined): string[] {
  if (apiUrl === undefined) return [];
  const { hostname } = new URL(apiUrl);
  const isSlack = hostname === 'slack.com' || hostname === 'slack-gov.com';
  const others = isSlack ? ['files', 'wss-primary', 'wss-backup'] : [];
  return [apiUrl, ...others.map((name) => `https://${name}.${hostname}`)];
}

function endpointAt(text: string | null, source: string): DerivedEndpoint[] {
  const url = text === null ? null : URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return [];
  const usual = url.protocol === 'https:' ? 443 : 80;
  const port = url.port === '' ? usual : Number(url.port);
  return [{ host: url.hostname, port, source }];
}

/** A skill declares a host, a host with a port, or the full URL that its script requests. */
function skillEndpoints(domain: string, skill: string): DerivedEndpoint[] {
  const at = (url: string) =>
    endpointAt(url, `skills.${skill}`)
      .filter(({ host }) => readHostPattern(host).ok)
      .map((endpoint) => ({ ...endpoint, skill }));
  if (domain.includes('://')) return at(domain);
  if (/[/\\?#@\s]/.test(domain)) return [];
  const schemes = /:\d+$/.test(domain) ? ['http'] : ['https', 'http'];
  return schemes.flatMap((scheme) => at(`${scheme}://${domain}`));
}
