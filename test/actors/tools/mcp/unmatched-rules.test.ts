import { expect, it } from 'vitest';
import { unmatchedRules } from '../../../../src/actors/tools/mcp/unmatched-rules.ts';
import { connected, listed, PuppetFolder, puppetConfig } from './puppet.ts';

const rule = (tool: string, isOptional = false) => ({
  tool,
  rule: `security.defer.tools.${tool}`,
  isOptional,
});

it.each([
  ['a slip', rule('shop__pya'), [{ nearest: 'shop__pay', withholds: true }]],
  [
    'a misspelled name that may appear later',
    rule('shop__pya', true),
    [{ nearest: 'shop__pay', withholds: true }],
  ],
  ['another name', rule('shop__refund'), [{ nearest: null, withholds: true }]],
  [
    'another name that may appear later',
    rule('shop__refund', true),
    [{ nearest: null, withholds: false }],
  ],
  ['a matching name', rule('shop__pay'), []],
  ['a name in another spelling', rule('shop__look-up'), []],
  ['a tool of another server', rule('till__pya'), []],
])('a rule with %s', (_, ruled, unmatched) => {
  expect(unmatchedRules('shop', ['pay', 'look_up'], [ruled])).toEqual(
    unmatched.map((one) => ({ rule: ruled.rule, ...one })),
  );
});

it('a server has its tools withheld while a rule matches none, until it offers that tool', async () => {
  const folder = new PuppetFolder([listed('pay'), listed('echo')]);
  const ruled = () => [rule('shop__pya')];
  const { tools, events, warnings } = await connected(folder, [puppetConfig()], { ruled });
  expect([[...tools.keys()], warnings(), events]).toEqual([
    [],
    [
      'mcp: the rule security.defer.tools.shop__pya fits no tool of shop; the nearest is shop__pay; the tools of shop are withheld until it is fixed',
    ],
    [
      {
        event: 'mcp_rule_unmatched',
        fields: { server: 'shop', rule: 'security.defer.tools.shop__pya', nearest: 'shop__pay' },
      },
    ],
  ]);
});
