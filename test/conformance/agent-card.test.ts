import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { launchAgent, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';
import { startTestSurface } from '../helpers/test-surface.ts';

const canonical = '/.well-known/agent-card.json';
const legacy = '/.well-known/agent.json';

const tillSkill = {
  id: 'till',
  name: 'till',
  description: 'The tools that tests use.',
  tags: ['skill'],
};

/** The interfaces of an agent as 1.0 names them, its own first. */
const interfacesAt = (url: string) => [
  { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  { url: `${url}/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
];

/** An agent whose `service.yaml` and further files are these. */
function startWith(settings: object, files: Record<string, string> = {}): Promise<TestAgent> {
  return startTestAgent({}, { folder: folderWith(settings, files) });
}

function folderWith(settings: object, files: Record<string, string> = {}): AgentFolder {
  const folder = new AgentFolder(settings);
  for (const [name, content] of Object.entries(files)) write(folder, name, content);
  return folder;
}

function write(folder: AgentFolder, name: string, content: string): void {
  mkdirSync(dirname(join(folder.path, name)), { recursive: true });
  writeFileSync(join(folder.path, name), content);
}

function skill(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nA prompt.\n`;
}

async function bytesOf(agent: TestAgent, path = canonical, headers: Record<string, string> = {}) {
  const response = await fetch(agent.url + path, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function skillsOf(agent: TestAgent): Promise<string[]> {
  const { body } = await agent.get(canonical);
  return body.skills.map(({ id }: { id: string }) => id);
}

function publications(agent: TestAgent): Record<string, unknown>[] {
  return agent
    .audit()
    .flatMap(({ event, fields }) => (event === 'agent_card_published' ? [fields ?? {}] : []));
}

/** Resolves once the card has been published so many times in all. */
async function published(agent: TestAgent, times: number): Promise<void> {
  await vi.waitUntil(() => publications(agent).length >= times, { timeout: 10_000, interval: 10 });
}

/** Resolves once the log says that the card cannot be made, with what it says. */
function refused(agent: TestAgent): Promise<string[]> {
  return vi.waitUntil(
    () => {
      const lines = agent.log.filter(({ level }) => level === 'error');
      return lines.length > 0 && lines.map(({ message }) => message);
    },
    { timeout: 10_000, interval: 10 },
  );
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('the agent card', () => {
  it('contains the configured and served features', async () => {
    const agent = await startWith({
      version: '1.2.0',
      description: 'Handles money',
      builtin_tools: ['datetime_now'],
    });
    const { status, headers, body } = await agent.get(canonical);
    expect({
      status,
      type: headers.get('content-type'),
      cache: headers.get('cache-control'),
      vary: headers.get('vary'),
      deprecation: headers.get('deprecation'),
      link: headers.get('link'),
      body,
    }).toStrictEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      cache: 'max-age=60',
      vary: 'A2A-Version',
      deprecation: null,
      link: null,
      body: {
        name: 'till',
        description: 'Handles money',
        url: agent.url,
        preferredTransport: 'JSONRPC',
        additionalInterfaces: [
          { url: agent.url, transport: 'JSONRPC' },
          { url: agent.url, transport: 'HTTP+JSON' },
        ],
        version: '1.2.0',
        protocolVersion: '0.3.0',
        defaultInputModes: ['text/plain', 'application/json'],
        defaultOutputModes: ['text/plain', 'application/json'],
        skills: [
          {
            id: 'datetime_now',
            name: 'datetime_now',
            description: 'Tells the current date and time.',
            tags: ['tool'],
          },
          tillSkill,
        ],
        capabilities: {
          streaming: true,
          pushNotifications: true,
          stateTransitionHistory: false,
        },
        supportedInterfaces: interfacesAt(agent.url),
      },
    });
  });

  it('has version 0.0.0 by default, and the public address if there is one', async () => {
    const agent = await startWith({ server: { public_url: 'https://agents.example.com/till/' } });
    const { body } = await agent.get(canonical);
    expect({ version: body.version, url: body.url, interfaces: body.additionalInterfaces }).toEqual(
      {
        version: '0.0.0',
        url: 'https://agents.example.com/till',
        interfaces: [
          { url: 'https://agents.example.com/till', transport: 'JSONRPC' },
          { url: 'https://agents.example.com/till', transport: 'HTTP+JSON' },
        ],
      },
    );
  });

  it('has the same bytes on the legacy path, which is marked as deprecated', async () => {
    const agent = await startWith({});
    const [now, before] = [await bytesOf(agent), await bytesOf(agent, legacy)];
    expect(before.bytes).toEqual(now.bytes);
    expect({
      status: before.response.status,
      deprecation: before.response.headers.get('deprecation'),
      link: before.response.headers.get('link'),
      etag: before.response.headers.get('etag'),
    }).toStrictEqual({
      status: 200,
      deprecation: 'true',
      link: '</.well-known/agent-card.json>; rel="successor-version"',
      etag: now.response.headers.get('etag'),
    });
  });

  it('is recorded once, with the digest of the bytes that are sent', async () => {
    const agent = await startWith({ version: '1.2.0' });
    const { bytes } = await bytesOf(agent);
    expect(publications(agent)).toStrictEqual([
      {
        name: 'till',
        version: '1.2.0',
        protocol_version: '0.3.0',
        url: agent.url,
        skill_count: 1,
        capabilities: {
          streaming: true,
          push_notifications: true,
          state_transition_history: false,
        },
        security_schemes: [],
        card_size_bytes: bytes.byteLength,
        card_sha256: sha256(bytes),
      },
    ]);
  });

  it('has the same bytes after a restart', async () => {
    const settings = { server: { public_url: 'https://agents.example.com' } };
    const folder = folderWith(settings, { 'skills/b.md': skill('b'), 'skills/a.md': skill('a') });
    const first = await launchAgent({}, { folder });
    const before = await bytesOf(first);
    await first.stop();
    const second = await startTestAgent({}, { folder });
    expect((await bytesOf(second)).bytes).toEqual(before.bytes);
    const [one, other] = publications(second);
    expect(other).toStrictEqual(one);
  });

  it('answers 503 until the agent has its address', async () => {
    const { client } = await startTestSurface();
    const { status, body } = await client.get(canonical);
    expect({ status, body }).toEqual({
      status: 503,
      body: { error: 'the service is starting', code: 'starting' },
    });
  });

  it('contains no internal data', async () => {
    const c = 'canary';
    const agent = await startWith(
      {
        egress: { mode: 'allowlist', allowed_domains: [`${c}.example.com`] },
        workflow_propagation: { allowed_hosts: [`${c}.example.org`] },
        builtin_tools: ['datetime_now', 'uuid_generate'],
        security: {
          guardrails: {
            enabled: true,
            denied_tools: ['uuid_generate'],
            deny_commands: [{ pattern: `${c}-command`, message: `${c}-message` }],
            deny_prompts: [{ pattern: `${c}-prompt` }],
            deny_output: [{ pattern: `${c}-output`, action: 'block' }],
          },
          defer: {
            enabled: true,
            tools: { pay: { to: `channel:console:${c}`, approvers: [`${c}@example.com`] } },
          },
          step_up: { enabled: true, tools: { echo: `${c}-acr` }, acr_hierarchy: [`${c}-acr`] },
        },
        auth: {
          required: true,
          providers: [
            {
              type: 'static_token',
              name: 'ops',
              settings: {
                token: `${c}-token`,
                identity: { user_id: `${c}-user`, email: `${c}@example.com` },
              },
            },
            { type: 'http_verifier', settings: { url: `https://${c}.example.com/verify` } },
            { type: 'cloud_iap', settings: { audience: `/${c}/audience` } },
          ],
        },
        model: { name: `${c}-model`, script: [{ say: `${c}-script` }] },
        audit: { path: `${c}.ndjson` },
      },
      {
        'skills/a.md': skill(
          'a',
          `category: care\ntags: [Care, money]\negress_domains: [${c}.example.com]\nmetadata:\n  service:\n    requires: {env: {optional: [CANARY]}}\n    guardrails: {deny_commands: [{pattern: ${c}}]}\n`,
        ).replace('A prompt', c),
      },
    );
    for (const headers of [{}, { 'a2a-version': '0.3' }, { 'a2a-version': '1.0' }]) {
      const { bytes } = await bytesOf(agent, canonical, headers);
      expect(bytes.toString()).not.toMatch(/canary|denied|guardrail|egress|uuid_generate/i);
    }
    expect(await skillsOf(agent)).toEqual(['a', 'datetime_now', 'till']);
  });
});

describe('both paths of the card', () => {
  const auth = {
    required: true,
    providers: [
      { type: 'static_token', name: 'ops', settings: { token: 'a-token-of-some-length' } },
      { type: 'oidc', settings: { issuer: 'https://id.example.com/', audience: 'till' } },
    ],
  };
  const card = { security_schemes: { mesh: { type: 'mutualTLS' } } };

  it('are public and describe the sign-in', async () => {
    const agent = await startWith({ auth, card });
    expect((await agent.get('/tasks')).status).toBe(401);
    for (const path of [canonical, legacy]) {
      const { status, body } = await agent.get(path);
      expect({
        status,
        securitySchemes: body.securitySchemes,
        security: body.security,
      }).toStrictEqual({
        status: 200,
        securitySchemes: {
          ops: { type: 'http', scheme: 'bearer' },
          oidc: {
            type: 'openIdConnect',
            openIdConnectUrl: 'https://id.example.com/.well-known/openid-configuration',
          },
          mesh: { type: 'mutualTLS' },
        },
        security: [{ ops: [] }, { oidc: [] }, { mesh: [] }],
      });
    }
    const [recorded] = publications(agent);
    expect(recorded?.['security_schemes']).toEqual(['static_token', 'oidc']);
    // Reading the card is nobody signing in.
    expect(agent.audit().filter(({ event }) => event === 'auth_verify')).toEqual([]);
  });

  it('list no provider that is not used', async () => {
    const folder = folderWith({ auth: { ...auth, required: false }, card });
    const agent = await startTestAgent({}, { folder, noAuth: true });
    const { body } = await agent.get(canonical);
    expect({ schemes: body.securitySchemes, security: body.security }).toEqual({
      schemes: { mesh: { type: 'mutualTLS' } },
      security: [{ mesh: [] }],
    });
  });

  it.each([canonical, legacy])('%s supports only GET and HEAD', async (path) => {
    const agent = await startWith({});
    const [head, get] = [await agent.request('HEAD', path), await agent.get(path)];
    expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
    for (const name of ['content-length', 'content-type', 'etag', 'cache-control', 'vary']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers, body } = await agent.request(method, path);
      expect({ status, allow: headers.get('allow'), body }).toEqual({
        status: 405,
        allow: 'HEAD, GET',
        body: { error: 'method not allowed', code: 'method_not_allowed' },
      });
    }
  });

  it.each([canonical, legacy])('%s answers 304 to a client that has the card', async (path) => {
    const agent = await startWith({});
    const { response } = await bytesOf(agent, path);
    const etag = response.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    for (const known of [etag, `"other", ${etag}`, '*', `W/${etag}`]) {
      const again = await bytesOf(agent, path, { 'if-none-match': known });
      expect({
        status: again.response.status,
        etag: again.response.headers.get('etag'),
        cache: again.response.headers.get('cache-control'),
        length: again.bytes.length,
      }).toEqual({ status: 304, etag, cache: 'max-age=60', length: 0 });
    }
    const other = await bytesOf(agent, path, { 'if-none-match': '"other"' });
    expect(other.response.status).toBe(200);
  });

  it.each([
    '',
    '0.3',
    '0.3.0',
    '1',
    '2.0',
    '1.00',
    '1.0, 1.0',
    '1.0;q=1',
    'constructor',
    '9'.repeat(30),
  ])('answer the 0.3.0 card to A2A-Version %j', async (version) => {
    const agent = await startWith({});
    const { body } = await agent.get(canonical, { 'a2a-version': version });
    expect(body.protocolVersion).toBe('0.3.0');
  });

  it.each(['1.0', '1.0.3', ' 1.0 '])('answer the 1.0 card to A2A-Version %j', async (version) => {
    const agent = await startWith({});
    const { headers, body } = await agent.get(canonical, { 'a2a-version': version });
    expect({ vary: headers.get('vary'), body }).toStrictEqual({
      vary: 'A2A-Version',
      body: {
        name: 'till',
        description: '',
        supportedInterfaces: interfacesAt(agent.url),
        version: '0.0.0',
        capabilities: { streaming: true, pushNotifications: true },
        defaultInputModes: ['text/plain', 'application/json'],
        defaultOutputModes: ['text/plain', 'application/json'],
        skills: [tillSkill],
      },
    });
    const old = await bytesOf(agent);
    expect(headers.get('etag')).not.toBe(old.response.headers.get('etag'));
  });
});

describe('the build spec', () => {
  const spec = {
    name: 'built-till',
    version: '9.0.0',
    a2a: { skills: [{ id: 'till', name: 'Till', description: 'As built.', tags: ['built'] }] },
  };

  it('comes first, and the files fill the gaps', async () => {
    const agent = await startWith(
      { version: '1.0.0', description: 'From the file' },
      { '.service/build/agent-spec.json': JSON.stringify(spec), 'skills/a.md': skill('a') },
    );
    const { name, version, description, skills } = (await agent.get(canonical)).body;
    expect({ name, version, description, skills }).toStrictEqual({
      name: 'built-till',
      version: '9.0.0',
      description: 'From the file',
      skills: [
        { id: 'a', name: 'a', description: 'Does a.', tags: ['skill'] },
        { id: 'till', name: 'Till', description: 'As built.', tags: ['built'] },
      ],
    });
    expect(agent.log).toContainEqual({
      level: 'warn',
      fields: { outdated: ['version', 'skill till'] },
      message:
        'card: .service/build/agent-spec.json differs from the files and counts; run holdpoint build',
    });
  });

  it('that is broken is ignored, and the log names the file', async () => {
    const agent = await startWith({}, { '.service/build/agent-spec.json': '{' });
    expect((await agent.get(canonical)).body.skills).toEqual([tillSkill]);
    expect(agent.log.map(({ level, message }) => [level, message])).toEqual([
      [
        'warn',
        'card: .service/build/agent-spec.json is ignored: it is not JSON; write it anew with holdpoint build',
      ],
    ]);
  });
});

describe('a change of the files', () => {
  it('of a skill is on the card, and recorded', async () => {
    const agent = await startWith({});
    const before = await bytesOf(agent);
    write(agent.folder, 'SKILL.md', skill('till', 'category: Money\ntags: [money, cash]\n'));
    await published(agent, 2);
    const after = await bytesOf(agent);
    expect(JSON.parse(String(after.bytes)).skills).toEqual([
      { id: 'till', name: 'till', description: 'Does till.', tags: ['Money', 'cash'] },
    ]);
    expect(after.response.headers.get('etag')).not.toBe(before.response.headers.get('etag'));
    expect(publications(agent)[1]).toMatchObject({ card_sha256: sha256(after.bytes) });
    const known = { 'if-none-match': before.response.headers.get('etag') ?? '' };
    expect((await bytesOf(agent, canonical, known)).response.status).toBe(200);
  });

  it('adds, renames and removes skills', async () => {
    const agent = await startWith({}, { 'skills/a.md': skill('a') });
    expect(await skillsOf(agent)).toEqual(['a', 'till']);
    write(agent.folder, 'skills/deep/SKILL.md', skill('deep'));
    await vi.waitFor(async () => expect(await skillsOf(agent)).toEqual(['a', 'deep', 'till']), 5e3);
    renameSync(join(agent.folder.path, 'skills/a.md'), join(agent.folder.path, 'skills/a.txt'));
    await vi.waitFor(async () => expect(await skillsOf(agent)).toEqual(['deep', 'till']), 5e3);
    renameSync(join(agent.folder.path, 'skills/a.txt'), join(agent.folder.path, 'skills/b.md'));
    await vi.waitFor(async () => expect(await skillsOf(agent)).toEqual(['a', 'deep', 'till']), 5e3);
    rmSync(join(agent.folder.path, 'skills'), { recursive: true });
    unlinkSync(join(agent.folder.path, 'SKILL.md'));
    await vi.waitFor(async () => expect(await skillsOf(agent)).toEqual([]), 5e3);
  });

  it('of service.yaml is on the card, except for tools and providers', async () => {
    const agent = await startWith({ version: '1.0.0' });
    write(
      agent.folder,
      'service.yaml',
      JSON.stringify({
        agent_id: 'till',
        version: '1.1.0',
        builtin_tools: ['datetime_now'],
        card: { security_schemes: { mesh: { type: 'mutualTLS' } } },
        auth: { providers: [{ type: 'static_token', settings: { token: 'a-long-enough-one' } }] },
      }),
    );
    await published(agent, 2);
    const { version, skills, securitySchemes } = (await agent.get(canonical)).body;
    expect({ version, skills, securitySchemes }).toEqual({
      version: '1.1.0',
      skills: [tillSkill],
      securitySchemes: { mesh: { type: 'mutualTLS' } },
    });
  });

  it.each([
    ['SKILL.md', '---\nname: [\n---\n', /^card: SKILL\.md:2:8: /],
    ['SKILL.md', '---\nname: Not Kebab\n---\n', /^card: SKILL\.md:2:7: /],
    ['skills/a/SKILL.md', '---\nname: a\n', /^card: skills\/a\/SKILL\.md:1:1: /],
    ['service.yaml', 'agent_id: till\nversion: {}\n', /^card: service\.yaml:2:10: /],
    ['service.yaml', '', /^card: service\.yaml:1:1: /],
  ])('that breaks %s keeps the last good card until it is corrected', async (name, text, place) => {
    const agent = await startWith({ version: '1.0.0' });
    const before = await bytesOf(agent);
    write(agent.folder, name, text);
    const [said] = await refused(agent);
    expect(said).toMatch(place);
    expect(said).toMatch(/; the last good card stays$/);
    expect((await bytesOf(agent)).bytes).toEqual(before.bytes);
    expect(publications(agent)).toHaveLength(1);
    const mended = name === 'service.yaml' ? 'agent_id: till\nversion: 3.0.0\n' : skill('mended');
    write(agent.folder, name, mended);
    await published(agent, 2);
    expect((await bytesOf(agent)).bytes).not.toEqual(before.bytes);
  });

  it('to a link that leads outside is refused', async () => {
    const agent = await startWith({});
    const outside = mkdtempSync(join(tmpdir(), 'holdpoint-outside-'));
    onTestFinished(() => rmSync(outside, { recursive: true }));
    writeFileSync(join(outside, 'SKILL.md'), skill('stolen'));
    unlinkSync(join(agent.folder.path, 'SKILL.md'));
    symlinkSync(join(outside, 'SKILL.md'), join(agent.folder.path, 'SKILL.md'));
    const [said] = await refused(agent);
    expect(said).toBe(
      'card: SKILL.md:1:1: the skill file leads out of the agent folder; move it inside; the last good card stays',
    );
    expect(await skillsOf(agent)).not.toContain('stolen');
  });

  it('that adds a second skill of one name keeps the first', async () => {
    const agent = await startWith({}, { 'skills/a.md': skill('a') });
    write(agent.folder, 'skills/b.md', skill('a').replace('Does a', 'Does something else'));
    await published(agent, 2);
    const { skills } = (await agent.get(canonical)).body;
    expect(skills).toEqual([
      { id: 'a', name: 'a', description: 'Does a.', tags: ['skill'] },
      tillSkill,
    ]);
  });
});

it('a card has a thousand skills, in order, and a change of one of them', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `skill-${(index * 7_919) % 1_000}`);
  const files = names.map((name) => [`skills/${name}/SKILL.md`, skill(name)]);
  const agent = await startWith({}, Object.fromEntries(files));
  expect(await skillsOf(agent)).toEqual([...names, 'till'].toSorted());
  write(agent.folder, 'skills/skill-500/SKILL.md', skill('renamed'));
  await vi.waitFor(async () => expect(await skillsOf(agent)).toContain('renamed'), 15e3);
  expect(await skillsOf(agent)).not.toContain('skill-500');
}, 40_000);

it('the card is found and read by the official client', async () => {
  const agent = await startWith({ version: '1.2.0' });
  const { name, version, supportedInterfaces, skills } =
    await new DefaultAgentCardResolver().resolve(agent.url);
  expect({
    name,
    version,
    skills: skills.map(({ id }) => id),
    urls: supportedInterfaces.map(({ url }) => url),
  }).toEqual({
    name: 'till',
    version: '1.2.0',
    skills: ['till'],
    urls: [agent.url, `${agent.url}/a2a`, agent.url, agent.url],
  });
});
