import { describe, expect, it } from 'vitest';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { createEgress } from '../../../src/actors/outbound/egress/egress.ts';
import {
  derivedEndpoints,
  type EndpointSettings,
} from '../../../src/agent/start/derived-endpoints.ts';

/** What a configuration leads to, as lines: `auth.providers.0 a.example:443`. */
function lines(config: object, settings: Partial<EndpointSettings> = {}): string[] {
  const channels = { slack: null, telegram: null, webhook: null };
  const none = { env: {}, admissionUrl: null, tracingUrl: null, skills: [], channels };
  const parsed = serviceSchema.parse({ agent_id: 'x', ...config });
  return derivedEndpoints(parsed, { ...none, ...settings }).map(
    ({ host, port, source, skill }) =>
      `${source} ${host}:${port} ${skill === undefined ? 'named' : `for ${skill}`}`,
  );
}

const provider = (type: string, settings: object) => ({
  auth: { providers: [{ type, settings }] },
});

/** Settings of Slack at an address. */
function slackAt(apiUrl: string) {
  return { botToken: 'b', appToken: 'a', apiUrl, dashboardUrl: null, conversations: true };
}

describe('the hosts of an agent', () => {
  it('are empty without a configuration', () => {
    expect(lines({})).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['static_token', { token: 't' }, []],
    ['oidc', { issuer: 'https://id.example/realm' }, ['id.example:443']],
    [
      'oidc',
      { issuer: 'https://id.example', jwks_url: 'https://keys.example:8443/k' },
      ['keys.example:8443'],
    ],
    ['http_verifier', { url: 'http://127.0.0.1:9000/v' }, ['127.0.0.1:9000']],
    ['directory_ad', { tenant_id: 't1', audience: 'a' }, ['login.microsoftonline.com:443']],
    ['cloud_iap', { audience: 'a' }, ['www.gstatic.com:443']],
    ['cloud_sigv4', { region: 'eu-west-1' }, ['sts.eu-west-1.amazonaws.com:443']],
    ['cloud_sigv4', { region: 'eu-west-1', sts_url: 'http://[::1]:81' }, ['[::1]:81']],
  ])('include those of a provider of type %s', (type, settings, places) => {
    expect(lines(provider(type, settings))).toEqual(
      places.map((place) => `auth.providers.0 ${place} named`),
    );
  });

  it('include those of the issuer of the approvals page', () => {
    const sign_in = { issuer: 'https://id.example/realm', client_id: 'c' };
    const approvals = { public_url: 'https://a.example', sign_in };
    expect(lines({ approvals })).toEqual(['approvals.sign_in id.example:443 named']);
    const push_services = ['*.push.apple.com', 'fcm.googleapis.com', 'http://127.0.0.1:81'];
    expect(lines({ approvals: { ...approvals, push_services } })).toEqual([
      'approvals.sign_in id.example:443 named',
      'approvals.push_services 127.0.0.1:81 named',
    ]);
  });

  it('include those of MCP servers over HTTP', () => {
    const servers = [
      { name: 'files', command: 'node' },
      { name: 'shop', url: 'https://shop.example/mcp' },
    ];
    expect(lines({ mcp: { servers } })).toEqual(['mcp.servers.1 shop.example:443 named']);
  });

  it.each<[object, string[]]>([
    [{ provider: 'openai' }, ['model api.openai.com:443']],
    [{ provider: 'openai', base_url: 'http://10.0.0.7:8000/v1' }, ['model 10.0.0.7:8000']],
    [{ provider: 'openai-compatible' }, []],
    [{ provider: 'ollama' }, ['model 127.0.0.1:11434']],
    [{ provider: 'openai', base_url: 'nonsense' }, []],
    [
      {
        provider: 'anthropic',
        fallbacks: [
          { provider: 'scripted', name: 's' },
          { provider: 'google', name: 'g' },
        ],
      },
      ['model api.anthropic.com:443', 'model.fallbacks.1 generativelanguage.googleapis.com:443'],
    ],
  ])('include those of the model %j', (model, places) => {
    expect(lines({ model })).toEqual(places.map((place) => `${place} named`));
  });

  it.each<[object, string[]]>([
    [{ enabled: false }, []],
    [{ enabled: true }, ['api.openai.com:443']],
    [{ enabled: true, provider: 'local' }, []],
    [{ enabled: true, provider: 'ollama', base_url: 'https://e.example/v1' }, ['e.example:443']],
  ])('include those of the embedder %j', (intent_alignment, places) => {
    expect(lines({ security: { intent_alignment } })).toEqual(
      places.map((place) => `security.intent_alignment ${place} named`),
    );
  });

  it('include those of the token services that issue credentials', () => {
    const role_arn = 'arn:aws:iam::123456789012:role/r';
    const credentials = [
      { tool: 'a', provider: 'static', spec: { A: 'B' } },
      { tool: 'b', provider: 'sts_assume_role', spec: { role_arn } },
      { tool: 'c', provider: 'sts_assume_role', spec: { role_arn, region: 'eu-west-3' } },
      { tool: 'd', provider: 'sts_assume_role', spec: { role_arn, endpoint: 'https://sts.corp' } },
    ];
    expect(lines({ credentials }, { env: { AWS_REGION: 'cn-north-1' } })).toEqual([
      'credentials.1 sts.cn-north-1.amazonaws.com.cn:443 named',
      'credentials.2 sts.eu-west-3.amazonaws.com:443 named',
      'credentials.3 sts.corp:443 named',
    ]);
  });

  it('include those of the platform, the collector and the sinks', () => {
    const sinks = [{ type: 'stdout' }, { type: 'http', url: 'https://siem.example/in' }];
    const settings = {
      admissionUrl: 'https://platform.example/v1/admission?a=b',
      tracingUrl: 'http://localhost:4318/v1/traces',
    };
    expect(lines({ audit: { sinks } }, settings)).toEqual([
      'SERVICE_ADMISSION_URL platform.example:443 named',
      'observability.tracing localhost:4318 named',
      'audit.sinks.1 siem.example:443 named',
    ]);
  });

  it('include those of active channels', () => {
    const config = { channels: ['console', 'telegram', 'slack', 'webhook', 'teams', 'email'] };
    const targets = {
      ops: { url: 'http://10.0.0.9:8080/in', secret: 's' },
      desk: { url: 'https://desk.example/in?key=1', secret: 's' },
    };
    const channels = {
      telegram: { token: 't', apiUrl: 'https://api.telegram.org', allowedUsers: null },
      slack: slackAt('https://slack.com/api/'),
      webhook: { dashboardUrl: 'https://dashboard.example', targets },
      teams: { targets: { ops: { url: 'https://logic.example/canary?sig=canary' } } },
      email: { host: '::1', port: 587 },
    };
    expect(lines(config, { channels })).toEqual([
      'channels.1 api.telegram.org:443 named',
      'channels.2 slack.com:443 named',
      'channels.2 files.slack.com:443 named',
      'channels.2 wss-primary.slack.com:443 named',
      'channels.2 wss-backup.slack.com:443 named',
      'channels.3 10.0.0.9:8080 named',
      'channels.3 desk.example:443 named',
      'channels.4 logic.example:443 named',
      'channels.5 [::1]:587 named',
    ]);
  });

  it('include that of another Slack, and none of inactive channels', () => {
    const config = { channels: ['slack', 'telegram', 'webhook'] };
    const idle = { slack: null, telegram: null, webhook: null };
    const slack = slackAt('http://127.0.0.1:9911/api/');
    expect(lines(config, { channels: { ...idle, slack } })).toEqual([
      'channels.0 127.0.0.1:9911 named',
    ]);
    expect(lines(config, { channels: idle })).toEqual([]);
  });

  it('include those that skills declare, each for its own scripts', () => {
    const egressDomains = [
      'api.example.com',
      'other.example.com:8443',
      'https://url.example.com/path',
      'http://[::1]:5/',
      '//nonsense',
      'a b',
      'user@host',
      '',
      '*example.com',
      '-x.com',
      'b,c.com',
    ];
    expect(lines({}, { skills: [{ id: 'refunds', egressDomains }] })).toEqual([
      'skills.refunds api.example.com:443 for refunds',
      'skills.refunds api.example.com:80 for refunds',
      'skills.refunds other.example.com:8443 for refunds',
      'skills.refunds url.example.com:443 for refunds',
      'skills.refunds [::1]:5 for refunds',
    ]);
  });

  it('can all be listed', () => {
    const parsed = serviceSchema.parse({
      agent_id: 'x',
      ...provider('cloud_sigv4', { region: 'eu-west-1', sts_url: 'http://[::1]:81' }),
      channels: ['slack'],
    });
    const skills = [{ id: 's', egressDomains: ['münchen.example', 'http://[::1]/'] }];
    const endpoints = derivedEndpoints(parsed, {
      env: {},
      admissionUrl: null,
      tracingUrl: null,
      skills,
      channels: { slack: slackAt('https://slack.com/api/'), telegram: null, webhook: null },
    });
    const egress = createEgress({
      mode: 'allowlist',
      allowedDomains: [],
      allowPrivateIps: false,
      allowedPrivateCidrs: [],
      propagateTo: [],
      endpoints,
      record: () => undefined,
    });
    expect(egress.hosts.map(({ host, port, openTo }) => `${host}:${port} ${openTo}`)).toEqual([
      'xn--mnchen-3ya.example:443 skill',
      'xn--mnchen-3ya.example:80 skill',
      '::1:80 skill',
      '::1:81 daemon',
      'slack.com:443 daemon',
      'files.slack.com:443 daemon',
      'wss-primary.slack.com:443 daemon',
      'wss-backup.slack.com:443 daemon',
    ]);
  });
});
