import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';
import { holdpointHere } from './command-here.ts';

const importing = (path: string, words: string[] = [], env: Record<string, string> = {}) =>
  holdpointHere(['import', path, '--yes', ...words], { env });

const skill = '---\nname: notes\ndescription: Writes notes\n---\nBe brief.\n';

const forge = `agent_id: desk
version: 1.0
framework: forge
model: {provider: gemini, name: gemini-2.5-pro}
tools: [{name: json_parse}, {name: schedule_set}, {name: web_fetch}]
egress: {profile: standard, allowed_domains: [api.example.com]}
mcp:
  servers:
    - {name: shop, transport: http, url: "https://shop.example.com/mcp", required: false, timeout: 30s, tools: {allow: ["*"], deny: [drop]}, auth: {type: bearer, token_env: SHOP_TOKEN}}
cors_origins: ["https://app.example.com"]
auth:
  required: true
  providers:
    - {type: azure_ad, settings: {tenant_id: 00000000-1111-2222-3333-444444444444, audience: desk, groups_mode: claim}}
    - {type: static_token, settings: {token: canary-of-the-token, identity: {user_id: ann}}}
guardrails_path: rules.json
schedules: [{id: daily, cron: "@daily", task: report}]
security:
  defer: {enabled: true, tools: {web_fetch: {to: "channel:console:*", approvers: [ann@example.com]}}}
  pdp: {enabled: false, endpoint: "https://pdp.example.com"}
`;

const rules = JSON.stringify({
  customRules: {
    rules: [
      {
        name: 'no deletions',
        type: 'regex',
        pattern: 'rm -rf',
        action: 'block',
        gates: ['tool_call', 'input'],
      },
    ],
  },
  gateConfig: { inputGate: true },
});

const folderOf = (more: Record<string, string> = {}) =>
  agentFolder({
    'forge.yaml': forge,
    'rules.json': rules,
    'skills/notes/SKILL.md': skill,
    'skills/notes/references/a.md': 'A',
    ...more,
  });

describe('import of a forge.yaml', () => {
  it('reports the result for each key, and writes a valid agent', async () => {
    const directory = join(agentFolder({}), 'desk');
    const ended = await importing(folderOf(), ['--dir', directory, '--yes']);
    expect(ended).toMatchObject({ code: 0 });
    const lines = ended.stdout.split('\n');
    for (const line of [
      'version: taken',
      'model.provider: renamed to model.provider: google',
      'tools.0.name: renamed to builtin_tools.0',
      'tools.1.name: not supported: there is no builtin tool schedule_set',
      'egress.profile: renamed to egress.mode',
      'mcp.servers.0.required: not supported: an agent starts without the tools of a server that it does not reach; check mcp list',
      'mcp.servers.0.auth: renamed to mcp.servers.0.headers.Authorization',
      'cors_origins.0: renamed to server.cors_origins.0',
      'auth.providers.0.type: renamed to auth.providers.0.type: directory_ad',
      'schedules: not supported: nothing starts tasks by the clock; send them to POST /tasks/send from cron',
      'guardrails.customRules.rules.0: renamed to security.guardrails.deny_commands and deny_prompts',
      'skills/notes: taken; 2 files, 0 tools',
    ]) {
      expect(lines).toContain(line);
    }
    const all = readFileSync(join(directory, 'service.yaml'), 'utf8');
    expect(parse(all)).toEqual({
      agent_id: 'desk',
      version: '1',
      model: { provider: 'google', name: 'gemini-2.5-pro' },
      builtin_tools: ['json_query', 'web_fetch'],
      egress: { mode: 'allowlist', allowed_domains: ['api.example.com'] },
      mcp: {
        servers: [
          {
            name: 'shop',
            url: 'https://shop.example.com/mcp',
            timeout: '30s',
            tools: { deny: ['drop'] },
            headers: { Authorization: 'Bearer ${SHOP_TOKEN}' },
          },
        ],
      },
      server: { cors_origins: ['https://app.example.com'] },
      auth: {
        required: true,
        providers: [
          {
            type: 'directory_ad',
            settings: { tenant_id: '00000000-1111-2222-3333-444444444444', audience: 'desk' },
            groups_claim: 'groups',
          },
          {
            type: 'static_token',
            settings: { token: '${AUTH_PROVIDERS_1_SETTINGS_TOKEN}', identity: { user_id: 'ann' } },
          },
        ],
      },
      security: {
        guardrails: {
          enabled: true,
          deny_commands: [{ pattern: 'rm -rf', message: 'no deletions' }],
          deny_prompts: [{ pattern: 'rm -rf', message: 'no deletions' }],
        },
        defer: {
          enabled: true,
          tools: { web_fetch: { to: 'channel:console:*', approvers: ['ann@example.com'] } },
        },
      },
    });
    const secrets = join(directory, '.service/.env');
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    expect({ ...parseEnv(readFileSync(secrets, 'utf8')) }).toEqual({
      AUTH_PROVIDERS_1_SETTINGS_TOKEN: 'canary-of-the-token',
    });
    expect(ended.stdout + ended.stderr).not.toContain('canary');
    const keys = { SHOP_TOKEN: 'x', GOOGLE_GENERATIVE_AI_API_KEY: 'x' };
    expect(await holdpointHere(['validate', '--dir', directory], { env: keys })).toMatchObject({
      code: 0,
    });
    expect(await importing(folderOf(), ['--dir', directory, '--yes'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is already there; name another folder with --dir'),
    });
  });

  it('writes no secret of server settings into the file', async () => {
    const text = forge.replace(
      'shop.example.com/mcp',
      'shop.example.com/mcp?api_key=canary-of-the-url',
    );
    const directory = join(agentFolder({}), 'desk');
    const ended = await importing(folderOf({ 'forge.yaml': text }), ['--dir', directory]);
    expect(ended.code).toBe(0);
    expect(readFileSync(join(directory, 'service.yaml'), 'utf8')).toContain(
      'url: https://shop.example.com/mcp?api_key=${SHOP_API_KEY}',
    );
    expect(ended.stdout + ended.stderr).not.toContain('canary');
  });

  it('keeps the sign-in of an agent to its server', async () => {
    const text = forge.replace(
      'type: bearer, token_env: SHOP_TOKEN',
      'type: oauth, grant: "", client_id: desk, scopes: [read]',
    );
    const directory = join(agentFolder({}), 'desk');
    const ended = await importing(folderOf({ 'forge.yaml': text }), ['--dir', directory]);
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('mcp.servers.0.auth: taken\n'),
    });
    expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toMatchObject({
      mcp: {
        servers: [{ auth: { type: 'authorization_code', client_id: 'desk', scopes: ['read'] } }],
      },
    });
  });

  it('permits no host without a mode, and monitors drift where that is on', async () => {
    const text =
      'agent_id: desk\nsecurity: {intent_alignment: {enabled: true, provider: gemini}, intent_drift: {enabled: true, drift_threshold: 0.4}}\n';
    const directory = join(agentFolder({}), 'desk');
    const ended = await importing(agentFolder({ 'forge.yaml': text }), ['--dir', directory]);
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'egress: renamed to egress.mode: deny-all; as without a mode there\n',
      ),
    });
    expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toMatchObject({
      egress: { mode: 'deny-all' },
      security: {
        intent_alignment: { provider: 'google', drift: { window: 5, drift_threshold: 0.4 } },
      },
    });
  });

  it.each([
    ['security.pdp', forge.replace('pdp: {enabled: false', 'pdp: {enabled: true'), {}],
    ['security.new_layer', forge.replace('  pdp:', '  new_layer: {enabled: true}\n  pdp:'), {}],
    ['mcp.servers.0.required', forge.replace('required: false', 'required: true'), {}],
    ['mcp.servers.0.auth', forge.replace('type: bearer', 'type: platform'), {}],
    [
      'mcp.servers.0.auth',
      forge.replace(
        'type: bearer, token_env: SHOP_TOKEN',
        'type: oauth, grant: client_credentials, client_id: a, client_secret_env: S, token_url: "https://id.example.com/token"',
      ),
      {},
    ],
    ['mcp.servers.0.tools', forge.replace('deny: [drop]', 'deny: ["drop_*"]'), {}],
    ['auth.providers.0.settings', forge.replace('groups_mode: claim', 'groups_mode: graph'), {}],
    ['guardrails_path', forge.replace('rules.json', 'other.json'), {}],
    ['guardrails.pii', forge, { 'rules.json': '{"pii": {"enabled": true}}' }],
    ['guardrails.customRules.rules.0', forge, { 'rules.json': rules.replace('block', 'mask') }],
    ['model.provider', forge.replace('gemini,', 'watson,'), {}],
    [
      'skills/notes',
      forge,
      {
        'skills/notes/SKILL.md': skill.replace(
          '---\nBe',
          'metadata: {forge: {guardrails: {deny_responses: []}}}\n---\nBe',
        ),
      },
    ],
  ])(
    'refuses %s, which it cannot convert, and drops it only on request',
    async (key, text, more) => {
      const source = folderOf({ 'forge.yaml': text, ...more });
      const directory = join(agentFolder({}), 'desk');
      const ended = await importing(source, ['--dir', directory, '--yes']);
      expect(ended.code).toBe(5);
      expect(ended.stderr).toContain(`${key}: error: not supported: `);
      expect(ended.stderr).toContain('1 key cannot be kept, and nothing was written');
      expect(existsSync(directory)).toBe(false);
      const preview = await importing(source, ['--preview', '--without', key]);
      expect(preview.stdout).toContain(`${key}: not supported: omitted as asked`);
      expect(readdirSync(source)).not.toContain('desk');
    },
  );
});

const servers = `{
  // of an editor
  "inputs": [{"type": "promptString", "id": "shop-token", "password": true}],
  "servers": {
    "My Shop": {"type": "http", "url": "https://shop.example.com/mcp", "headers": {"Authorization": "Bearer \${input:shop-token}"}, "disabledTools": ["drop"]},
    "files": {"command": "node", "args": ["./lib/files.mjs", "\${workspaceFolder}/data", "\${env:HOME_OF_FILES}"], "env": {"API_KEY": "canary-of-the-key", "SHOP_MODE": "\${SHOP_MODE:-fast}"}, "timeout": 30000, "alwaysAllow": ["read"]},
    "old": {"type": "sse", "url": "https://old.example.com/sse"},
    "off": {"command": "x", "disabled": true},
  },
}`;

describe('import of MCP settings', () => {
  it('imports the servers with their secrets as variables', async () => {
    const source = agentFolder({ '.vscode/mcp.json': servers, 'lib/files.mjs': '' });
    const directory = join(agentFolder({}), 'desk');
    const ended = await importing(source, ['--dir', directory, '--name', 'desk', '--yes']);
    expect(ended.code).toBe(0);
    expect(ended.stdout.split('\n')).toEqual([
      'inputs.0: renamed to the variable SHOP_TOKEN',
      'servers.My Shop: renamed to mcp.servers (my-shop)',
      'servers.My Shop.type: taken',
      'servers.My Shop.url: taken',
      'servers.My Shop.headers: taken',
      'servers.My Shop.disabledTools: renamed to tools.deny',
      'servers.files: renamed to mcp.servers (files)',
      'servers.files.command: taken',
      'servers.files.args: taken',
      'servers.files.env: taken',
      'servers.files.timeout: taken',
      'servers.files.alwaysAllow: not supported: the rules under security decide for each call',
      'servers.old: not supported: the transport sse is not spoken; write its address for streamable HTTP',
      'servers.off: not supported: it is off there',
      ...['service.yaml', '.gitignore', '.service/.env', '.service/service.schema.json'].map(
        (name) => `wrote ${directory}/${name}`,
      ),
      '',
    ]);
    expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toEqual({
      agent_id: 'desk',
      mcp: {
        servers: [
          {
            name: 'my-shop',
            url: 'https://shop.example.com/mcp',
            headers: { Authorization: 'Bearer ${SHOP_TOKEN}' },
            tools: { deny: ['drop'] },
          },
          {
            name: 'files',
            command: 'node',
            args: [`${source}/lib/files.mjs`, `${source}/data`, '${HOME_OF_FILES}'],
            env: { API_KEY: '${API_KEY}', SHOP_MODE: 'fast' },
            timeout: '30000ms',
            tools: { deny: [] },
          },
        ],
      },
    });
    expect(readFileSync(join(directory, '.service/.env'), 'utf8')).toBe(
      'API_KEY=canary-of-the-key\n',
    );
    expect(ended.stdout + ended.stderr).not.toContain('canary');
    expect(ended.stderr).toContain('it needs SHOP_TOKEN: set it with');
  });

  it.each([
    [
      '{"mcpServers": {"a": {"url": "https://a.example.com", "oauth": {"clientId": "c", "clientSecret": "canary", "scope": "read write"}}}}',
      {
        type: 'authorization_code',
        client_id: 'c',
        client_secret: '${MCP_SERVERS_0_AUTH_CLIENT_SECRET}',
        scopes: ['read', 'write'],
      },
    ],
    [
      '{"mcpServers": {"a": {"url": "https://a.example.com", "auth": {"CLIENT_ID": "c"}}}}',
      { type: 'authorization_code', client_id: 'c' },
    ],
    ['{"mcpServers": {"a": {"url": "https://a.example.com", "oauth": false}}}', undefined],
  ])('imports a sign-in by OAuth: %s', async (text, auth) => {
    const source = agentFolder({ '.mcp.json': text });
    const ended = await importing(source, ['--dir', join(source, 'out')]);
    expect(ended.code).toBe(0);
    const written = readFileSync(join(source, 'out/service.yaml'), 'utf8');
    const { mcp } = parse(written) as { mcp: { servers: { auth?: object }[] } };
    expect(mcp.servers[0]?.auth).toEqual(auth);
    expect(ended.stdout + ended.stderr + written).not.toContain('canary');
  });

  it('refuses two secrets with one variable, and one that the environment overrides', async () => {
    const server = (key: string) => `{"command": "x", "env": {"API_KEY": "${key}"}}`;
    const source = agentFolder({
      '.mcp.json': `{"mcpServers": {"a": ${server('canary-1')}, "b": ${server('canary-2')}}}`,
      'one.json': `{"mcpServers": {"a": ${server('canary-1')}}}`,
    });
    const out = ['--dir', join(source, 'out')];
    const shared = await importing(source, out);
    const overridden = await importing(join(source, 'one.json'), out, { API_KEY: 'canary-3' });
    for (const { code, stdout, stderr } of [shared, overridden]) {
      expect([code, stderr]).toEqual([
        5,
        expect.stringContaining(
          'there is another value for API_KEY, in the environment or at another server',
        ),
      ]);
      expect(stdout + stderr).not.toContain('canary');
    }
    expect(existsSync(join(source, 'out'))).toBe(false);
  });

  it('imports the skills of a project with its servers', async () => {
    const text = '{"mcpServers": {"a": {"command": "x"}}}';
    const source = agentFolder({ '.mcp.json': text, '.claude/skills/notes/SKILL.md': skill });
    const directory = join(source, 'out');
    expect(await importing(source, ['--dir', directory])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('skills/notes: taken; 1 files, 0 tools\n'),
    });
    expect(readFileSync(join(directory, 'skills/notes/SKILL.md'), 'utf8')).toBe(skill);
  });

  it.each([
    ['claude.json', '{"mcpServers": {"a": {"command": "x"}}}'],
    [
      'zed.json',
      '{"context_servers": {"a": {"source": "custom", "command": {"path": "x", "args": []}}}}',
    ],
    ['opencode.json', '{"mcp": {"a": {"type": "local", "command": ["x"], "enabled": true}}}'],
    ['config.toml', '[mcp_servers.a]\ncommand = "x"\n'],
  ])('reads the format of %s', async (name, text) => {
    const source = agentFolder({ [name]: text });
    const directory = join(source, 'out');
    expect(await importing(join(source, name), ['--dir', directory])).toMatchObject({ code: 0 });
    expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toMatchObject({
      mcp: { servers: [{ name: 'a', command: 'x', tools: { deny: [] } }] },
    });
  });

  it.each([
    ['permissions', '{"mcpServers": {"a": {"command": "x"}}, "permissions": {"deny": ["Bash"]}}'],
    [
      'mcpServers.a.oauth',
      '{"mcpServers": {"a": {"url": "https://x.example.com", "oauth": {"clientId": "c", "authServerMetadataUrl": "https://id.example.com"}}}}',
    ],
    ['mcpServers.a.toolPolicy', '{"mcpServers": {"a": {"command": "x", "toolPolicy": "ask"}}}'],
    ['mcpServers.A B', '{"mcpServers": {"a-b": {"command": "x"}, "A B": {"command": "y"}}}'],
    ['mcpServers.a.args', '{"mcpServers": {"a": {"command": "x", "args": ["${command:pick}"]}}}'],
    ['mcpServers.a.env', '{"mcpServers": {"a": {"command": "x", "env": {"K": {}}}}}'],
  ])('refuses %s', async (key, text) => {
    const source = agentFolder({ '.mcp.json': text });
    const ended = await importing(source, ['--dir', join(source, 'out'), '--yes']);
    expect([ended.code, ended.stderr]).toEqual([
      5,
      expect.stringContaining(`${key}: error: not supported: `),
    ]);
    expect(existsSync(join(source, 'out'))).toBe(false);
  });
});

describe('a source that cannot be imported', () => {
  it.each([
    [
      'cut JSON',
      { '.mcp.json': '{"mcpServers": {"a": ' },
      /\.mcp\.json:1:22: it is not valid JSON/,
    ],
    [
      'a repeated name',
      { '.mcp.json': '{"mcpServers": {"a": {"command": "x"},\n "a": {"command": "y"}}}' },
      /\.mcp\.json:2:2: "a" is written twice; keep one/,
    ],
    ['deep JSON', { '.mcp.json': '['.repeat(200_000) }, /nested too deeply|not valid JSON/],
    ['a list', { '.mcp.json': '[]' }, /is no map of keys and values/],
    ['no servers', { '.mcp.json': '{"mcpServers": {}}' }, /names no MCP servers/],
    ['cut YAML', { 'forge.yaml': 'a: [1' }, /forge\.yaml:\d+:\d+: it is not valid YAML/],
    [
      'an alias bomb',
      { 'forge.yaml': `a: &a [x]\n${'b: [*a, *a]\n'.repeat(200)}` },
      /not valid YAML/,
    ],
    ['a huge file', { 'forge.yaml': `a: ${'x'.repeat(300_000)}` }, /is larger than 256 KiB/],
    [
      'two configurations',
      { '.mcp.json': '{}', '.vscode/mcp.json': '{}' },
      /has \.mcp\.json and \.vscode\/mcp\.json; name one of them/,
    ],
    ['nothing', { 'notes.txt': '' }, /and no SKILL\.md/],
    [
      'two skills with one name',
      { 'a/SKILL.md': skill, 'b/SKILL.md': skill },
      /a\/SKILL\.md and b\/SKILL\.md are both called notes/,
    ],
    ['cut TOML', { 'config.toml': '[mcp_servers.a\n' }, /config\.toml:1:\d+: it is not valid TOML/],
  ])('is refused with one message: %s', async (_what, files, sentence) => {
    const source = agentFolder(files as Record<string, string>);
    const [first = ''] = Object.keys(files);
    const path = first === 'config.toml' ? join(source, first) : source;
    const ended = await importing(path, ['--dir', join(source, 'out'), '--yes']);
    expect([ended.code, ended.stdout]).toEqual([5, '']);
    expect(ended.stderr).toMatch(sentence);
    expect(ended.stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(existsSync(join(source, 'out'))).toBe(false);
  });

  it('is refused for links out of its folder', async () => {
    const elsewhere = agentFolder({ 'forge.yaml': 'agent_id: x\n', secret: 'canary' });
    const linked = agentFolder({});
    symlinkSync(join(elsewhere, 'forge.yaml'), join(linked, 'forge.yaml'));
    const ended = await importing(linked, ['--dir', join(linked, 'out')]);
    expect([ended.code, ended.stderr]).toEqual([
      5,
      expect.stringContaining('is a link out of the folder'),
    ]);
    const skills = agentFolder({ 'notes/SKILL.md': skill });
    symlinkSync(join(elsewhere, 'secret'), join(skills, 'notes/secret.md'));
    const second = await importing(skills, ['--dir', join(skills, 'out')]);
    expect([second.code, second.stderr]).toEqual([
      5,
      expect.stringContaining('notes/secret.md is a link or a device; put the file itself there'),
    ]);
    mkdirSync(join(skills, 'empty'));
    expect(await importing(join(skills, 'empty', 'none'))).toMatchObject({ code: 5 });
  });
});

it('a folder with the configuration of another product is answered with the import command', async () => {
  const directory = folderOf();
  expect(await holdpointHere(['validate', '--dir', directory])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining(
      `make an agent from its forge.yaml with holdpoint import ${directory}`,
    ),
  });
});

describe('import as a gateway', () => {
  it('writes a valid gate with the servers at one address', async () => {
    const settings = {
      mcpServers: { shop: { type: 'http', url: 'https://shop.example.com/mcp' } },
    };
    const folder = agentFolder({ '.mcp.json': JSON.stringify(settings) });
    const directory = join(agentFolder({}), 'tools');
    const ended = await importing(folder, ['--gateway', '--name', 'tools', '--dir', directory]);
    expect(ended).toMatchObject({ code: 0 });
    expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toEqual({
      agent_id: 'tools',
      gate: {},
      server: { mcp: true },
      mcp: {
        servers: [{ name: 'shop', url: 'https://shop.example.com/mcp', tools: { deny: [] } }],
      },
    });
    expect(ended.stderr).toContain(
      'then point MCP clients at its address and /mcp in place of the servers',
    );
    expect(await holdpointHere(['validate', '--dir', directory])).toMatchObject({ code: 0 });
  });

  describe.skipIf(isWithoutBwrap)('in a sandbox', () => {
    needsBwrap();

    it('warns of a server whose program the sandbox hides, as validate does', async () => {
      const shop = { command: 'node', args: ['./shop.mjs', '/usr/share'] };
      const settings = JSON.stringify({ mcpServers: { shop, lost: { command: './lost' } } });
      const folder = agentFolder({ '.mcp.json': settings, 'shop.mjs': '' });
      const directory = join(agentFolder({}), 'tools');
      const { stderr } = await importing(folder, ['--gateway', '--dir', directory]);
      const hidden = `service.yaml:14:11: warning: shop cannot see ${folder}/shop.mjs, which the sandbox hides; copy it into the folder of the agent, or set egress.sandbox to env`;
      const missing = `service.yaml:19:7: warning: lost needs the program ${directory}/lost, which is no file; fix the path`;
      expect(stderr.split('\n').filter((line) => line.includes('warning'))).toEqual([
        missing,
        hidden,
      ]);
      const checked = await holdpointHere(['validate', '--dir', directory]);
      expect(checked.stderr.split('\n').slice(0, 3)).toEqual([
        'service.yaml:6:7: warning: without auth.providers every program can ask this gate and decide on its own calls; add a provider, and approvers to the rules',
        ...[hidden, missing],
      ]);
    });

    it('finds nothing hidden in the folder of the new agent', async () => {
      const shop = { command: 'node', args: ['./shop.mjs'] };
      const settings = JSON.stringify({ mcpServers: { shop } });
      const folder = agentFolder({ '.mcp.json': settings, 'shop.mjs': '' });
      const { code, stderr } = await importing(folder, ['--gateway', '--dir', folder]);
      expect({ code, warned: stderr.includes('warning') }).toEqual({ code: 0, warned: false });
    });
  });

  it('needs server settings', async () => {
    const directory = join(agentFolder({}), 'desk');
    const ended = await importing(folderOf(), ['--gateway', '--dir', directory]);
    expect(ended.code).toBe(5);
    expect(ended.stderr).toMatch(/a gateway needs MCP settings; .+forge\.yaml has none/);
    expect(existsSync(directory)).toBe(false);
  });
});

it('import writes nothing without a confirmation, which only a terminal can give', async () => {
  const source = agentFolder({ 'forge.yaml': 'agent_id: desk\n' });
  const target = join(source, 'out');
  const { code, stderr } = await holdpointHere(['import', source, '--dir', target]);
  expect([code, stderr.split('\n').at(-2), existsSync(target)]).toEqual([
    2,
    'error: the change needs a confirmation; add --yes to confirm it',
    false,
  ]);
});
