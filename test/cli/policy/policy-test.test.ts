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

async function tested(rows: object[] | string, ...given: (string | typeof agent)[]) {
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
  args: { order_id: 'A-1042', amount },
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
    ['- {name: a, tol: b}', 'error: policy.test.yaml row 1: Unrecognized key: "tol"\n'],
    ['a: b', 'error: policy.test.yaml: Invalid input: expected array, received object\n'],
  ])('that cannot be read is reported with one message: %s', async (text, stderr) => {
    expect(await tested(text)).toMatchObject({ code: 5, stderr });
  });
});
