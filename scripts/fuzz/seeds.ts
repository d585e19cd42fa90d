import { postBytes } from '../../test/helpers/post-bytes.ts';

const json = (...values: unknown[]): string[] => values.map((value) => JSON.stringify(value));
const line = {
  ts: '2026-01-01T00:00:00.000Z',
  event: 'session_start',
  task_id: 't',
  seq: 0,
  prev: '0',
};
const person = { user: { id: 'U1' }, team: { id: 'T0' }, api_app_id: 'A0' };

const post = (path: string, body: unknown, headers = ''): string =>
  postBytes(path, JSON.stringify(body), headers);
const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}Connection: close\r\n\r\n`;
const said = { role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hello' }] };
const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

/** Texts that each reader takes. */
export const seeds = {
  http: [
    post('/tasks/send', { task: { id: 't', message: said } }),
    post('/tasks/sendSubscribe', { message: said }),
    post('/tasks/t/decisions', { decision: 'approve', approver: 'ann' }),
    post('/tasks/t/cancel', { reason: 'enough' }),
    post('/', call('message/send', { message: { kind: 'message', ...said } })),
    post('/', call('tasks/get', { id: 't', historyLength: 2 })),
    post(
      '/v1/message:send',
      { message: { role: 'ROLE_USER', messageId: 'm', parts: [{ text: 'a' }] } },
      'A2A-Version: 1.0\r\n',
    ),
    post(
      '/mcp',
      call('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'f', version: '1' },
      }),
    ),
    post(
      '/mcp',
      call('tools/call', { name: 'pay', arguments: { amount: 1 } }),
      'Mcp-Session-Id: 0\r\n',
    ),
    get('/tasks?state=deferred&limit=2&cursor=x'),
    get('/tasks/t?history=true', 'If-None-Match: "x"\r\n'),
    get('/tasks/t/events', 'Last-Event-ID: 3\r\n'),
    get('/deferrals?approver=ann', 'Authorization: Bearer x\r\n'),
    get(
      '/.well-known/agent-card.json',
      'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n',
    ),
    get('/metrics', 'X-Workflow-ID: w\r\n'),
    'POST /tasks/send HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
  ],
  config: [
    'agent_id: till\nmodel: {provider: openai, name: gpt-5}\n',
    'agent_id: till\nsecurity:\n  defer:\n    enabled: true\n    tools:\n      pay: {to: "channel:slack:C1", timeout: 5m}\n',
    'egress:\n  mode: allowlist\n  allowed_domains: ["*.example.com", "a.example:8443"]\nmcp:\n  servers: {a: {command: x, args: [b]}}\n',
  ],
  frontmatter: [
    '---\nname: till\ndescription: The till.\negress: [a.example]\n---\n## Tool: pay\n',
  ],
  markdown: [
    '# a\n\n## Tool: pay\n\n**Input:** `amount` (number)\n\n| a | b |\n|---|---|\n| `x` | <b> |\n',
  ],
  inputLine: [
    'order_id (string): which one, `amount` (optional number)',
    'tags (string[])',
    'none',
  ],
  inputBlock: [
    '| Parameter | Type | Required | Description |\n| --- | --- | --- | --- |\n| a | string | yes | A |',
    '- `a` (string, optional: why)\n- **b** (int) - how many',
  ],
  skillText: [
    '---\nname: a\nmetadata: {forge: {egress_domains: [$A], denied_tools: [b], timeout_hint: 5}}\n---\n## Tool: a\n',
    '---\nname: a\nmetadata: {service: {guardrails: {deny_output: [{pattern: x, action: block}]}}}\n---\n',
  ],
  forge: json(
    { agent_id: 'a', model: { provider: 'gemini' }, tools: [{ name: 'json_parse' }] },
    {
      mcp: { servers: [{ name: 'a', url: 'https://a', auth: { type: 'bearer', token_env: 'A' } }] },
    },
    { auth: { providers: [{ type: 'azure_ad', settings: { tenant_id: 'a' } }] } },
    { guardrails: { customRules: { rules: [{ type: 'regex', pattern: 'a', action: 'block' }] } } },
  ),
  servers: json(
    { mcpServers: { a: { command: 'x', args: ['${A:-b}'], env: { A: '${input:b}' } } } },
    { servers: { a: { url: 'https://a', headers: { A: 'b' }, disabledTools: ['c'] } }, inputs: [] },
    { mcp: { a: { type: 'local', command: ['x', 'y'], timeout: 5 } } },
  ),
  archive: ['PK\u0003\u0004', '\u001f'],
  admission: json({
    decision: 'deny',
    reason: 'quota',
    scope: 'org',
    window: 'daily',
    reset_at: '2026-01-01T00:00:00Z',
  }),
  token: ['eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIn0.AAAA', 'a.b.c'],
  claims: json({
    iss: 'https://issuer.example',
    aud: 'agent',
    exp: 99_999_999_999,
    iat: 1,
    sub: 'a',
  }),
  signedUrl: [
    'https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20260101%2Feu-west-1%2Fsts%2Faws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00',
  ],
  callerIdentity: json({
    GetCallerIdentityResponse: {
      GetCallerIdentityResult: {
        Account: '1',
        Arn: 'arn:aws:iam::123456789012:user/a',
        UserId: 'A',
      },
    },
  }),
  slackFrame: json(
    {
      type: 'hello',
      connection_info: { app_id: 'A0' },
      debug_info: { approximate_connection_time: 9 },
    },
    {
      type: 'events_api',
      envelope_id: 'e',
      payload: { event_id: 'Ev1', event: { type: 'message' } },
    },
    { type: 'disconnect', reason: 'warning' },
  ),
  slackInteraction: json({
    ...person,
    ...{ type: 'block_actions', trigger_id: 't', channel: { id: 'C' }, message: { ts: '1.2' } },
    actions: [{ action_id: 'approve', value: 'd', action_ts: '1.2' }],
  }),
  slackMessage: json({
    ...{ team_id: 'T0', api_app_id: 'A0', event_id: 'E' },
    event: {
      type: 'message',
      channel: 'C',
      user: 'U1',
      text: '<@U0> hello',
      ts: '1.2',
      thread_ts: '1.1',
    },
  }),
  slackMarkup: ['<@U0> see <https://a.example|here> &amp; <#C1|general> <!here>'],
  slackText: ['# Hello\n\n* [a](https://b.example) **c** `d`\n> e\n', '```\n<@U1>\n```'],
  telegram: json({
    ok: true,
    result: [
      {
        update_id: 1,
        message: {
          message_id: 1,
          date: 1,
          text: 'hello',
          from: { id: 2 },
          chat: { id: 3, type: 'private' },
        },
      },
    ],
  }),
  rpc: json({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: {} } }),
  submission: json(
    { task: { id: 't', message: { role: 'user', parts: [{ kind: 'text', text: 'hello' }] } } },
    {
      message: {
        parts: [
          { kind: 'file', file: { name: 'a', bytes: 'AA==' } },
          { kind: 'data', data: {} },
        ],
      },
    },
  ),
  decision: json({
    decision: 'approve',
    approver: 'ann',
    approver_email: 'ann@a.example',
    note: 'n',
    deferral_id: 'd',
    args_sha256: '00',
  }),
  mcpOffer: json([
    {
      name: 'read',
      description: 'Reads.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    },
  ]),
  draft: [
    'Here it is.\n```SKILL.md\n---\nname: a\n---\n```\n```scripts/run.sh\necho\n```\n',
    JSON.stringify({
      message: 'm',
      skill: { skill_md: '---\nname: a\n---\n', scripts: { 'run.sh': 'echo' } },
    }),
  ],
  card: json({
    protocolVersion: '0.3.0',
    name: 'a',
    url: 'https://a.example',
    skills: [{ id: 's', name: 'n', description: 'd', tags: ['t'] }],
    capabilities: {},
    securitySchemes: { b: { type: 'http', scheme: 'bearer' } },
  }),
  auditLog: [`${JSON.stringify(line)}\n${JSON.stringify({ ...line, seq: 1 })}\n`],
  events: [
    'id: 1\nevent: status\ndata: {"id":"t","status":{"state":"working"}}\n\nevent: progress\ndata: {"text":"x"}\n\n',
  ],
  hosts: ['api.example.com:8443', '*.example.com', '[::1]:80', '10.0.0.0/8', '2001:db8::/32'],
  patterns: ['rm\\s+-rf', '^a(b|c)+$', '$.a.b[0]', 'args.amount'],
  csv: ['a,b\n1,"2"\n'],
  traceParent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  duration: ['1h30m', '500ms'],
};
