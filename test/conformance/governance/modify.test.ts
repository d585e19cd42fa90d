import { describe, it } from 'vitest';
import {
  expectOutcome,
  type Outcome,
  overTransports,
  type Scenario,
} from '../../helpers/governed-run.ts';
import {
  layersSay,
  rewritten,
  ruleMatched,
  running,
  thought,
} from '../../helpers/governed-words.ts';

const script = [{ tool: 'pay', args: { amount: 5, to: 'Maja' } }, { say: 'paid {result}' }];

/** Settings under which the arguments of `pay` are rewritten. */
const modifying = (rules: object[], security: object = {}, modify: object = {}) => ({
  security: {
    modify: { enabled: true, tools: { pay: { arguments: rules } }, ...modify },
    ...security,
  },
});

/** What comes of a call that ran with these arguments. */
function ranWith(
  args: object,
  words: Parameters<typeof layersSay>[0],
  events: Outcome['events'],
): Outcome {
  return {
    state: 'completed',
    text: `paid ${JSON.stringify(args)}`,
    events: [thought, ...events, ...running(), thought],
    decisions: layersSay(words),
    ran: [['pay', args]],
  };
}

/** What comes of a call whose new arguments may not run. */
function refused(text: string, gate: string, rule: string): Outcome {
  return {
    state: 'failed',
    text,
    events: [thought, ruleMatched(gate, rule)],
    decisions: layersSay({ modify: ['deny', text] }),
  };
}

const rows: [string, Scenario, Outcome][] = [
  [
    'a rule that sets a value',
    { settings: modifying([{ path: 'amount', set: 3 }]), script },
    ranWith(
      { amount: 3, to: 'Maja' },
      { modify: ['modify', 'rewritten by rule 1', [{ path: 'amount', before: '5', after: '3' }]] },
      [rewritten([1])],
    ),
  ],
  [
    'arguments that no longer fit the schema',
    { settings: modifying([{ path: 'amount', remove: true }]), script },
    refused(
      'MODIFY made arguments that may not run: pay: argument amount is missing',
      'arguments',
      'schema',
    ),
  ],
  [
    'arguments that a guardrail denies',
    {
      settings: modifying([{ path: 'to', set: 'Eve' }], {
        guardrails: { enabled: true, deny_commands: [{ pattern: 'Eve', message: 'not to her' }] },
      }),
      script,
    },
    refused(
      'MODIFY made arguments that may not run: denied by guardrail: not to her',
      'deny_commands',
      'deny_commands[0]',
    ),
  ],
  [
    'a rule that cannot be carried out',
    {
      settings: modifying([
        { path: 'to', replace: { pattern: '[a-z]', with: 'x'.repeat(200_000) } },
        { path: 'to', replace: { pattern: 'x', with: 'xxxxxx' } },
      ]),
      script,
    },
    refused(
      'governance failed: MODIFY could not be carried out',
      'governance',
      'MODIFY could not be carried out',
    ),
  ],
];

/** Rows in which the transport makes no difference. */
const further: typeof rows = [
  [
    'a rule that removes one',
    { settings: modifying([{ path: 'to', remove: true }]), script },
    ranWith(
      { amount: 5 },
      { modify: ['modify', 'rewritten by rule 1', [{ path: 'to', before: '"Maja"' }]] },
      [rewritten([1])],
    ),
  ],
  [
    'rules one after the other, of which those that changed something are named',
    {
      settings: modifying([
        { path: 'to', replace: { pattern: 'Bo', with: 'Al' } },
        { path: 'to', replace: { pattern: 'M(a)', with: 'K$1' } },
        { path: 'to', replace: { pattern: '^Kaja$', with: 'Kim' } },
      ]),
      script,
    },
    ranWith(
      { amount: 5, to: 'Kim' },
      {
        modify: [
          'modify',
          'rewritten by rules 2, 3',
          [{ path: 'to', before: '"Maja"', after: '"Kim"' }],
        ],
      },
      [rewritten([2, 3])],
    ),
  ],
  [
    'a rule that changes nothing',
    {
      settings: modifying([
        { path: 'to', set: 'Maja' },
        { path: 'memo', remove: true },
      ]),
      script,
    },
    ranWith({ amount: 5, to: 'Maja' }, {}, []),
  ],
  [
    'rules of another tool',
    {
      settings: modifying([], {}, { tools: { sign: { arguments: [{ path: 'x', set: 1 }] } } }),
      script,
    },
    ranWith({ amount: 5, to: 'Maja' }, {}, []),
  ],
  [
    'rules that are switched off',
    { settings: modifying([{ path: 'amount', set: 3 }], {}, { enabled: false }), script },
    ranWith({ amount: 5, to: 'Maja' }, {}, []),
  ],
  [
    'a guardrail that would have passed what MODIFY makes comes first',
    {
      settings: modifying([{ path: 'to', set: 'Bo' }], {
        guardrails: { enabled: true, deny_commands: [{ pattern: 'Maja', message: 'not to her' }] },
      }),
      script,
    },
    {
      state: 'failed',
      text: 'denied by guardrail: not to her',
      events: [thought, ruleMatched('deny_commands', 'deny_commands[0]')],
      decisions: layersSay({ intent_alignment: ['deny', 'denied by guardrail: not to her'] }),
    },
  ],
];

describe('MODIFY', () => {
  it.each(overTransports(rows, further))('over %s: %s', async (transport, _, scenario, outcome) => {
    await expectOutcome(transport, scenario, outcome);
  });
});
