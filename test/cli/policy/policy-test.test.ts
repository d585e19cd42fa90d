import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdpointHere } from '../command-here.ts';
import { cleanUp, refundAgent } from '../holdpoint.ts';

afterAll(cleanUp);

const agent = {
  agent_id: 'refunds',
  model: { provider: 'scripted', name: 'demo' },
  security: {
    guardrails: {
      enabled: true,
      denied_tools: [{ tool: 'issue_refund', when: 'double(args.amount) > 5000.0' }],
    },
    defer: {
      enabled: true,
      tools: {
        issue_refund: [
          { when: 'double(args.amount) <= 50.0 && has(caller.email)', allow: true },
          { when: '"finance" in caller.groups && caller.claims.level > 2', allow: true },
          { to: ['channel:console:*', 'channel:console:finance'] },
        ],
      },
    },
  },
};

async function tested(rows: object[] | string, ...given: (string | object)[]) {
  const flags = given.filter((flag) => typeof flag === 'string');
  const tried = given.find((one) => typeof one !== 'string') ?? agent;
  const dir = await refundAgent(JSON.stringify(tried));
  const text = typeof rows === 'string' ? rows : JSON.stringify(rows);
  await writeFile(join(dir, 'policy.test.yaml'), text);
  const { code, stdout, stderr } = await holdpointHere([
    ...['policy', 'test', '--dir', dir, '--no-color', ...flags],
  ]);
  const plain = (lines: string) => lines.replaceAll(`${dir}/`, '');
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

const call = (amount: string) => ({
  tool: 'issue_refund',
  args: { order_id: 'A-1042', amount: Number(amount) },
  caller: { user_id: 'u', email: 'ann@example.com' },
});

const allowed = { name: 'small', ...call('50'), expect: { decision: 'allow' } };
const held = {
  ...{ name: 'large', ...call('51') },
  expect: {
    decision: 'defer',
    rule: 'defer.tools.issue_refund[2]',
    to: 'channel:console:*, channel:console:finance',
    quorum: 1,
  },
};
const trusted = {
  ...{ name: 'trusted', ...call('51') },
  caller: { user_id: 'u', groups: ['finance'], claims: { level: 3 } },
  expect: { decision: 'allow', rule: 'defer.tools.issue_refund[1]' },
};
const denied = {
  ...{ name: 'huge', ...call('5001') },
  expect: { decision: 'deny', rule: 'guardrails.denied_tools[0]' },
};

describe('a table of calls', () => {
  it('passes when every row has the expected decision, and lists rules without a row', async () => {
    expect(await tested([allowed, held, denied, trusted], '--coverage')).toEqual({
      ...{ code: 0, stdout: '4 passed, 0 failed\n', stderr: '' },
    });
    expect(await tested([allowed], '--coverage')).toMatchObject({
      stdout:
        'no row reaches guardrails.denied_tools[0]\nno row reaches defer.tools.issue_refund[1]\nno row reaches defer.tools.issue_refund[2]\n1 passed, 0 failed\n',
    });
  });

  it('fails with the difference of each row', async () => {
    const { caller: _, ...anonymous } = { ...allowed, name: 'nobody' };
    const wrong = { ...held, name: 'wrong', expect: { decision: 'deny', to: 'x' } };
    expect(await tested([anonymous, wrong, held])).toEqual({
      code: 5,
      stdout: `✗ nobody (policy.test.yaml row 1)
    decision: expected allow, got defer
✗ wrong (policy.test.yaml row 2)
    decision: expected deny, got defer
    to: expected x, got channel:console:*, channel:console:finance
1 passed, 2 failed
`,
      stderr: 'error: 2 of 3 rows differ\n',
    });
  });

  it('may give what is used of limits', async () => {
    const limit = { tools: ['issue_refund'], amount: 'args.amount', per: '24h', max: 5000 };
    const limits = {
      a_day: { ...limit, to: 'channel:console:finance' },
      b_day: { ...limit, max: 6000, over: 'deny' },
    };
    const withLimits = { ...agent, security: { ...agent.security, limits } };
    const given = (used: object) => ({ ...call('50'), given: { limits: used } });
    const rows = [
      { name: 'unused', ...call('50'), expect: { decision: 'allow' } },
      { name: 'within', ...given({ a_day: 4950 }), expect: { decision: 'allow' } },
      {
        ...{ name: 'over', ...given({ a_day: '4950.01' }) },
        expect: { decision: 'defer', to: 'channel:console:finance' },
      },
      {
        name: 'far over',
        ...given({ b_day: 5951 }),
        expect: { decision: 'deny', rule: 'limits.b_day' },
      },
      { name: 'of no limit', ...given({ c_day: 1 }), expect: { decision: 'allow' } },
    ];
    expect(await tested(rows, withLimits)).toEqual({
      code: 5,
      stdout: `✗ of no limit (policy.test.yaml row 5)
    given: there is no limit c_day
4 passed, 1 failed
`,
      stderr: 'error: 1 of 5 rows differ\n',
    });
    expect(await tested([{ ...rows[1], given: { limits: { a_day: '4,950' } } }])).toMatchObject({
      stderr:
        'error: policy.test.yaml row 1: given.limits.a_day: this is no amount; write 4900 or "4900.50"\n',
    });
  });

  it('may say at what time a call is made', async () => {
    const when = 'now.getHours("Europe/Berlin") >= 9 && now.getHours("Europe/Berlin") < 17';
    const by = [{ when, allow: true }, { to: 'channel:console:*' }];
    const tools = { issue_refund: by };
    const timed = { ...agent, security: { defer: { enabled: true, tools } } };
    const at = (now: string, decision: string) => ({
      ...{ name: now, ...call('5'), now, expect: { decision } },
    });
    const rows = [
      at('2026-07-01T08:59:59+02:00', 'defer'),
      at('2026-07-01T09:00:00+02:00', 'allow'),
      at('2026-12-01T16:00:00Z', 'defer'),
    ];
    expect(await tested(rows, timed)).toMatchObject({ stdout: '3 passed, 0 failed\n' });
    expect(await tested([at('noon', 'defer')], timed)).toMatchObject({
      stderr: 'error: policy.test.yaml row 1: now: write a time such as 2026-07-01T09:00:00Z\n',
    });
  });

  it('may say who decides, and within which time', async () => {
    const quorum = { 'group:finance': 1, 'group:legal': 1 };
    const strict = {
      ...{ to: 'channel:console:*', approvers: ['group:finance', 'group:legal'], quorum },
      ...{ four_eyes: true, timeout: '2h', require_reason: 'reject', edit: true },
    };
    const every = { to: 'channel:console:*', approvers: ['Ann@example.com'] };
    const tools = {
      issue_refund: strict,
      'issue_*': every,
      lookup_order: { to: 'channel:console:*' },
    };
    const settings = { issuer: 'https://id.example.com', audience: 'refunds' };
    const provider = { type: 'oidc', name: 'staff', groups_claim: 'groups', settings };
    const decided = {
      ...{ agent_id: 'gate', gate: { tools: { '*': {} } }, auth: { providers: [provider] } },
      security: { defer: { enabled: true, tools } },
    };
    const row = (name: string, expected: object) => ({
      ...{ name, ...call('5'), expect: { decision: 'defer', ...expected } },
    });
    const lists = [['ann@example.com'], ['group:legal', 'group:finance']];
    const right = { approvers: lists, quorum, four_eyes: true, timeout: '600s' };
    const answer = await tested(
      [
        row('right', { ...right, require_reason: 'reject', require_passkey: false }),
        row('a number', { quorum: 2 }),
        row('wrong', {
          ...{ approvers: ['group:finance', 'group:legal'], quorum: 3, four_eyes: false },
          ...{ timeout: '1h', require_reason: false, require_passkey: true, edit: true },
        }),
        row('one list', { quorum: { 'group:finance': 2 }, approvers: null }),
        {
          name: 'a tool of another name',
          tool: 'lookup_order',
          expect: { decision: 'defer', approvers: null, edit: false, quorum: 1 },
        },
        { name: 'not held', tool: 'nothing', expect: { decision: 'deny', approvers: 'a@x.de' } },
      ],
      decided,
    );
    expect(answer).toEqual({
      code: 5,
      stdout: `✗ wrong (policy.test.yaml row 3)
    approvers: expected group:finance, group:legal, got ann@example.com and also group:finance, group:legal
    quorum: expected 3, got 2
    timeout: expected 1h0m0s, got 10m0s
    four_eyes: expected false, got true
    require_reason: expected false, got reject
    require_passkey: expected true, got false
    edit: expected true, got false
✗ one list (policy.test.yaml row 4)
    approvers: expected anyone, got ann@example.com and also group:finance, group:legal
    quorum: expected 2 of group:finance, got 1 of group:finance, 1 of group:legal
✗ not held (policy.test.yaml row 6)
    decision: expected deny, got allow
    approvers: expected a@x.de, got none
3 passed, 3 failed
`,
      stderr: 'error: 3 of 6 rows differ\n',
    });
  });

  it('lists every problem of a table', async () => {
    const rows = [
      { ...allowed, nwo: 1 },
      { ...held, expect: { decision: 'run' } },
    ];
    expect(await tested(rows)).toEqual({
      ...{ code: 5, stdout: '' },
      stderr: `policy.test.yaml row 1: Unrecognized key: "nwo"
policy.test.yaml row 2: expect.decision: Invalid option: expected one of "allow"|"deny"|"modify"|"step_up"|"defer"
error: 2 problems in the table
`,
    });
  });

  it('prints one document', async () => {
    const { stdout } = await tested(
      [allowed, { ...held, expect: { decision: 'allow' } }],
      '--json',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ passed: 1, failed: 1 },
      rows: [
        { name: 'small', differences: [] },
        { name: 'large', differences: ['decision: expected allow, got defer'] },
      ],
    });
  });

  it.each([
    ['[', 'error: policy.test.yaml:1:2: unexpected end of the stream within a flow collection\n'],
    ['a: b', 'error: policy.test.yaml: Invalid input: expected array, received object\n'],
  ])('that cannot be read is reported with one message: %s', async (text, stderr) => {
    expect(await tested(text)).toMatchObject({ code: 5, stderr });
  });
});
