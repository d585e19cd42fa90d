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

const secret = 'live-key-3f9a7c51';
const env = { VAULT_KEY: secret };
const secretOf = (tool: string) => [
  { tool, provider: 'static', spec: { name: 'PAY_TOKEN', from_env: 'VAULT_KEY' } },
];

/** A script in which a tool returns a string and the model repeats what it receives. */
const saying = (text: string, tool = 'tell') => [{ tool, args: { text } }, { say: 'got {result}' }];

const guarded = (rules: object, rest: object = {}) => ({
  security: { guardrails: { enabled: true, ...rules }, ...rest },
});

/** MODIFY rules for the output of `tell` and `fall`. */
function rewriting(...rules: [pattern: string, text: string][]) {
  const output = rules.map(([pattern, text]) => ({ replace: { pattern, with: text } }));
  return { enabled: true, tools: { tell: { output }, fall: { output } } };
}

/** What comes of a string that was passed on, with what the layer did to it. */
function heard(
  text: string,
  output: [string, string],
  said: string,
  events: Outcome['events'],
): Outcome {
  return {
    state: 'completed',
    text: `got ${text}`,
    events: [thought, ...running('tell'), ...events, thought],
    decisions: layersSay({ output }, { tool: 'tell' }),
    ran: [['tell', { text: said }]],
  };
}

/** What comes of a string that is kept back. */
function withheld(reason: string, rule: string, said: string, tool = 'tell'): Outcome {
  const outcome = tool === 'fall' ? 'failed' : 'succeeded';
  return {
    state: 'failed',
    text: reason,
    events: [
      thought,
      ...running(tool, reason, outcome),
      ruleMatched('deny_output', rule, 'block', tool),
    ],
    decisions: layersSay({ output: ['deny', reason] }, { tool }),
    ran: [[tool, { text: said }]],
  };
}

/** What comes of a tool that failed and said why. */
function fell(
  text: string,
  output: [string, string],
  said: string,
  events: Outcome['events'] = [],
): Outcome {
  return {
    state: 'failed',
    text,
    events: [thought, ...running('fall', 'exit code 3'), ...events],
    decisions: layersSay({ output }, { tool: 'fall' }),
    ran: [['fall', { text: said }]],
  };
}

const unchanged: [string, string] = ['allow', 'no rule changes it'];
const failure = 'fall failed with exit code 3: ';

const rows: [string, Scenario, Outcome][] = [
  [
    'what no rule touches is passed on',
    { settings: guarded({ redact: ['email'] }), script: saying('nothing of note') },
    heard('nothing of note', unchanged, 'nothing of note', []),
  ],
  [
    'what is blocked ends the task and is not told',
    {
      settings: guarded({ deny_output: [{ pattern: 'top ?secret', action: 'block' }] }),
      script: saying('this is top secret'),
    },
    withheld('denied by guardrail: top ?secret', 'deny_output[0]', 'this is top secret'),
  ],
  [
    'what a pattern redacts is replaced',
    {
      settings: guarded({ deny_output: [{ pattern: 'case \\d+', action: 'redact' }] }),
      script: saying('see case 17 and case 4'),
    },
    heard(
      'see [redacted] and [redacted]',
      ['modify', 'rewritten by deny_output[0]'],
      'see case 17 and case 4',
      [ruleMatched('deny_output', 'deny_output[0]', 'redact', 'tell')],
    ),
  ],
  [
    'an address is redacted by its built-in rule',
    { settings: guarded({ redact: ['email'] }), script: saying('write to maja@example.com') },
    heard(
      'write to [redacted:email]',
      ['modify', 'rewritten by redact.email'],
      'write to maja@example.com',
      [ruleMatched('redact', 'redact.email', 'redact', 'tell')],
    ),
  ],
  [
    'MODIFY rewrites, and the rules that changed something are named',
    {
      settings: { security: { modify: rewriting(['zzz', 'y'], ['(\\d+) EUR', '$1 euros']) } },
      script: saying('5 EUR are gone'),
    },
    heard('5 euros are gone', ['modify', 'rewritten by modify output 2'], '5 EUR are gone', [
      rewritten([2], 'output', 'tell'),
    ]),
  ],
  [
    'output that cannot be rewritten is withheld',
    {
      settings: {
        security: { modify: rewriting(['[a-z]', 'x'.repeat(2_000)], ['x', 'y'.repeat(2_000)]) },
      },
      script: saying('abcdef'),
    },
    {
      ...withheld('governance failed: the output could not be checked', '', 'abcdef'),
      events: [
        thought,
        ...running('tell', 'governance failed: the output could not be checked', 'succeeded'),
        ruleMatched('governance', 'the output could not be checked', 'block', 'tell'),
      ],
    },
  ],
  [
    'the credential that a failing tool shows is redacted',
    { settings: { credentials: secretOf('fall') }, env, script: saying('no', 'fall') },
    {
      ...fell(`${failure}{"text":"no"} [redacted]`, unchanged, 'no'),
      events: [
        thought,
        ['credential_issued', { tool: 'fall', provider: 'static' }],
        ...running('fall', 'exit code 3'),
      ],
      decisions: layersSay({ credentials: ['allow', 'issued by static'] }, { tool: 'fall' }),
    },
  ],
  [
    'why a tool failed is redacted',
    { settings: guarded({ redact: ['email'] }), script: saying('no maja@example.com', 'fall') },
    fell(
      `${failure}{"text":"no [redacted:email]"}`,
      ['modify', 'rewritten by redact.email'],
      'no maja@example.com',
      [ruleMatched('redact', 'redact.email', 'redact', 'fall')],
    ),
  ],
  [
    'why a tool failed is blocked',
    {
      settings: guarded({ deny_output: [{ pattern: 'top secret', action: 'block' }] }),
      script: saying('top secret', 'fall'),
    },
    withheld('denied by guardrail: top secret', 'deny_output[0]', 'top secret', 'fall'),
  ],
];

/** Rows in which the transport makes no difference. */
const further: typeof rows = [
  [
    'MODIFY gets what the guardrails left, and names both',
    {
      settings: guarded(
        { redact: ['email'] },
        { modify: rewriting(['maja', 'Maja'], ['\\[redacted:email\\]', 'somebody']) },
      ),
      script: saying('write to maja@example.com'),
    },
    heard(
      'write to somebody',
      ['modify', 'rewritten by redact.email, modify output 2'],
      'write to maja@example.com',
      [ruleMatched('redact', 'redact.email', 'redact', 'tell'), rewritten([2], 'output', 'tell')],
    ),
  ],
  [
    'a block is looked for in the original, whatever would be redacted',
    {
      settings: guarded({
        deny_output: [
          { pattern: 'maja', action: 'redact' },
          { pattern: 'maja@', action: 'block' },
        ],
        redact: ['email'],
      }),
      script: saying('write to maja@example.com'),
    },
    withheld('denied by guardrail: maja@', 'deny_output[1]', 'write to maja@example.com'),
  ],
  [
    'a block finds what would be redacted as a credential',
    {
      settings: {
        ...guarded({ deny_output: [{ pattern: 'key=live-', action: 'block' }] }),
        credentials: secretOf('sign'),
      },
      env,
      script: [{ tool: 'sign', args: {} }],
    },
    {
      state: 'failed',
      text: 'denied by guardrail: key=live-',
      events: [
        thought,
        ['credential_issued', { tool: 'sign', provider: 'static' }],
        ...running('sign', 'denied by guardrail: key=live-', 'succeeded'),
        ruleMatched('deny_output', 'deny_output[0]', 'block', 'sign'),
      ],
      decisions: layersSay(
        {
          credentials: ['allow', 'issued by static'],
          output: ['deny', 'denied by guardrail: key=live-'],
        },
        { tool: 'sign' },
      ),
      ran: [['sign', {}]],
    },
  ],
  [
    'why a tool failed is rewritten',
    {
      settings: { security: { modify: rewriting(['no', 'never']) } },
      script: saying('no', 'fall'),
    },
    fell(`${failure}{"text":"never"}`, ['modify', 'rewritten by modify output 1'], 'no', [
      rewritten([1], 'output', 'fall'),
    ]),
  ],
];

describe('output', () => {
  it.each(overTransports(rows, further))('over %s: %s', async (transport, _, scenario, outcome) => {
    await expectOutcome(transport, scenario, outcome);
  });
});
