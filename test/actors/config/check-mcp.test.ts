import { describe, expect, it } from 'vitest';
import type { McpServerSettings } from '../../../src/actors/tools/mcp/server-settings.ts';
import { linesOf, read } from './reading.ts';

const one = (server: string) => linesOf(read(`agent_id: x\nmcp:\n  servers:\n    - ${server}`));

it.each([
  '{name: shop, url: "https://shop.example.com/mcp", headers: {Authorization: "Bearer x"}, tools: {allow: [pay]}}',
  '{name: shop, url: "http://127.0.0.1:9000/mcp?a=b", tools: {deny: []}}',
  '{name: shop, command: node, args: [server.mjs], env: {A: ""}, tools: {deny: [pay]}}',
])('the mcp section accepts %s', (server) => {
  expect(one(server)).toEqual([]);
});

const way = 'an MCP server has either a url or a command; write one of the two';
const list =
  'an MCP server has either tools.allow or tools.deny; write one of the two (deny: [] is every tool)';
const address =
  'the address of an MCP server is an http or https URL without credentials and #, such as https://shop.example.com/mcp';

it.each([
  ['{name: shop, tools: {deny: []}}', [`4:7 mcp.servers.0 | ${way}`]],
  [
    '{name: shop, command: a, url: "https://a/", tools: {deny: []}}',
    [`4:7 mcp.servers.0 | ${way}`],
  ],
  ['{name: shop, command: a}', [`4:7 mcp.servers.0.tools | ${list}`]],
  ['{name: shop, command: a, tools: {}}', [`4:39 mcp.servers.0.tools | ${list}`]],
  [
    '{name: shop, command: a, tools: {allow: [], deny: []}}',
    [`4:39 mcp.servers.0.tools | ${list}`],
  ],
  [
    '{name: shop, command: a, tools: {allow: ["*"]}}',
    [
      '4:48 mcp.servers.0.tools.allow.0 | this must be the name of a tool, not a pattern; deny: [] is every tool, and allow: [] none',
    ],
  ],
  ['{name: shop, url: "ftp://a/", tools: {deny: []}}', [`4:25 mcp.servers.0.url | ${address}`]],
  [
    '{name: shop, url: "https://me:secret@a/", tools: {deny: []}}',
    [`4:25 mcp.servers.0.url | ${address}`],
  ],
  [
    '{name: shop, url: "https://a/", args: [b], tools: {deny: []}}',
    ['4:45 mcp.servers.0.args | args belong to a command'],
  ],
  [
    '{name: shop, url: "https://a/", env: {B: c}, tools: {deny: []}}',
    ['4:44 mcp.servers.0.env | env belongs to a command; a url has headers'],
  ],
  [
    '{name: shop, command: a, headers: {B: c}, tools: {deny: []}}',
    ['4:41 mcp.servers.0.headers | headers are sent to a url; a command has env'],
  ],
  [
    '{name: shop__2, command: a, tools: {deny: []}}',
    [
      '4:14 mcp.servers.0.name | mcp.servers.0.name: the name of an MCP server is kebab-case, such as shop-files',
    ],
  ],
])('the mcp section refuses %s', (server, complaints) => {
  expect(one(server)).toEqual(complaints.map((line) => `error ${line}`));
});

describe('questions of a server', () => {
  const asking = `agent_id: x
mcp:
  servers:
    - {name: shop, command: a, tools: {deny: []}, elicitation: ask}
`;
  const held = (rule: string, defer = 'enabled: true') =>
    linesOf(
      read(`${asking}security: {defer: {${defer}, tools: {shop__elicitation: ${rule}}}}\n`),
    ).filter((line) => line.startsWith('error'));
  const nobody =
    'error 4:64 mcp.servers.0.elicitation | no rule says who answers the questions of shop; write security.defer.tools.shop__elicitation: {to: <target>, edit: true}, with enabled: true';

  it('need an active rule that lets approvers fill in fields', () => {
    expect(held('{to: "channel:console:*", edit: true}')).toEqual([]);
    expect(linesOf(read(asking)).filter((line) => line.startsWith('error'))).toEqual([nobody]);
    expect(held('{to: "channel:console:*", edit: true}', 'enabled: false')).toEqual([nobody]);
    expect(held('{to: "channel:console:*"}')).toEqual([
      expect.stringContaining('approvers answer a question by changed arguments; add edit: true'),
    ]);
  });

  it('are refused by a gate', () => {
    const gate = `${asking}gate: {tools: {Bash: {schema: {}}}}\n`;
    expect(linesOf(read(gate)).filter((line) => line.includes('elicitation'))).toEqual([
      'error 4:64 mcp.servers.0.elicitation | a gate refuses the questions of servers; remove this line',
    ]);
  });
});

it('two servers may not have one name', () => {
  const server = '{name: shop, command: a, tools: {deny: []}}';
  expect(one(`${server}\n    - ${server}`)).toEqual([
    'error 5:14 mcp.servers.1.name | another MCP server has the name shop; rename one of them',
  ]);
});

it('an error does not quote a header', () => {
  const text = one(
    '{name: shop, url: "https://a/", headers: {B: "two\\nlines"}, tools: {deny: []}}',
  );
  expect(text).toEqual([
    'error 4:52 mcp.servers.0.headers.B | mcp.servers.0.headers.B: the value of a header is one line of ASCII',
  ]);
});

it('values of a server from variables are kept separate', () => {
  const text = `agent_id: x
mcp:
  servers:
    - {name: files, command: node, env: {MODE: production}, tools: {deny: []}}
    - name: shop
      command: node
      env: {URL: "https://me:\${PASS}@shop.example.com", REGION: us-east-1, TOKEN: "\${TOKEN}"}
      tools: {deny: []}
    - {name: till, url: "https://a/", headers: {Authorization: "Bearer \${TOKEN}"}, tools: {deny: []}}
`;
  const reading = read(text, { PASS: 'p4ss', TOKEN: 't0ken' });
  const servers: readonly McpServerSettings[] = reading.ok ? reading.config.mcp.servers : [];
  expect(servers.map(({ filled }) => filled)).toEqual([undefined, ['p4ss', 't0ken'], ['t0ken']]);
});

describe('a gate with MCP servers', () => {
  const gateway = (text: string, rest = 'server: {mcp: true}') =>
    linesOf(
      read(
        `agent_id: x\nauth: {providers: [{type: static_token, settings: {token_env: T}}]}\ngate: ${text}\n${rest}\nmcp:\n  servers:\n    - {name: shop, command: a, tools: {deny: []}}\n`,
        { T: 'a-long-enough-token-of-ops' },
      ),
    );

  it('has no entry for tools of a server', () => {
    expect(gateway('{tools: {Bash: {}, "mcp__*": {}, shop: {}}}')).toEqual([]);
    const covers = (entry: string) =>
      gateway(`{tools: {"${entry}": {}}}`).map((line) => line.replace(/^.*\| /, ''));
    for (const entry of ['*', 'sh*', 'shop__pay', 'shop--pay', 'shop__*', 'sho*y']) {
      expect(covers(entry)).toEqual([
        'this entry also covers tools of the MCP server shop, which run here; name the tools of other programs otherwise',
      ]);
    }
  });

  it('is called by MCP clients', () => {
    expect(gateway('{}', '')).toEqual([
      'warning 7:5 mcp.servers | no program can call the tools of these servers; set server.mcp: true',
    ]);
  });
});

describe('views of tools', () => {
  const views = (rest: string, view: string) =>
    linesOf(read(`agent_id: x\n${rest}\nmcp:\n  views:\n    - ${view}\n`));
  const sue = '{for: sue@example.com, tools: {allow: [a]}}';

  it('need an endpoint, and named callers', () => {
    expect(views('', sue)).toEqual([
      'warning 5:5 mcp.views | views are for callers of /mcp, which is off; set server.mcp: true',
    ]);
    expect(views('server: {mcp: true}', sue)).toEqual([
      'warning 5:5 mcp.views | without auth.providers no caller has a view, so all have no tool; add a provider',
    ]);
  });

  it.each([
    ['{for: nobody, tools: {allow: [a]}}', 'this is an email, group:NAME'],
    ['{for: [], tools: {allow: [a]}}', 'the list names no one; add someone'],
    [
      '{for: sue@example.com, tools: {allow: []}}',
      'the view has no tool; add one, such as shop__*',
    ],
    ['{for: sue@example.com, tools: {deny: [a]}}', 'missing'],
    ['{for: sue@example.com, allow: [a]}', 'missing'],
  ])('are checked: %s', (view, message) => {
    expect(views('server: {mcp: true}', view).join('\n')).toContain(message);
  });
});

it.each([
  ['https://${HOST}/s/${KEY}/mcp', ['sesame-open-sesame']],
  ['https://shop.example.com/mcp?key=${KEY}', ['sesame-open-sesame']],
  ['${WHOLE}', ['sesame-open-sesame']],
  ['https://shop.example.com/mcp', undefined],
])('the parts of the address %s from variables are secret, except for its host', (url, filled) => {
  const env = {
    HOST: 'shop.example.com',
    KEY: 'sesame-open-sesame',
    WHOLE: 'https://shop.example.com/s/sesame-open-sesame/mcp',
  };
  const server = `{name: shop, url: "${url}", tools: {deny: []}}`;
  const { config } = read(`agent_id: x\nmcp:\n  servers:\n    - ${server}`, env) as any;
  expect(config.mcp.servers[0].filled).toEqual(filled);
});
