import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { withRules } from '../../../src/actors/workspace/edit-rules.ts';
import { rulesIn, type ToolRulesEdit } from '../../../src/actors/workspace/rules-in.ts';

const text = `# the till
agent_id: till
security:
  # who is asked
  defer:
    enabled: true
    tools:
      pay: # money
        to: channel:console:desk
        timeout: 5m
        context_template: "{args}" # short
  guardrails:
    enabled: true
    denied_tools: [break, cli-execute]
`;

function edited(tool: string, parts: Partial<ToolRulesEdit>, from = text): string {
  const rules = rulesIn(from, [tool]).map((now) => ({ ...now, ...parts }));
  return withRules(from, rules);
}

const held = { to: ['channel:console:desk'], timeout: '5m', quorum: 1, approvers: [] };

describe('the rules of tools in service.yaml', () => {
  it('are read as written, under either spelling of a name', () => {
    expect(rulesIn(text, ['pay', 'cli_execute', 'echo'])).toEqual([
      {
        ...{ tool: 'pay', deny: false, defer: held, acr: '', modify: '', listed: [] },
        conditions: [
          {
            ...{ rule: 'defer.tools.pay', when: '' },
            terms: "{to: channel:console:desk, timeout: 5m, context_template: '{args}'}",
          },
        ],
      },
      {
        ...{ tool: 'cli_execute', deny: true, defer: null, acr: '', modify: '', listed: [] },
        conditions: [{ rule: 'guardrails.denied_tools[1]', when: '', terms: '' }],
      },
      {
        ...{ tool: 'echo', deny: false, defer: null, acr: '', modify: '', listed: [] },
        conditions: [],
      },
    ]);
  });

  it('are not edited where a tool has a list of them', () => {
    const listed = text.replace(
      /pay: # money[\s\S]*?# short/,
      'pay: [{when: "true", allow: true}]',
    );
    expect(edited('pay', {}, listed)).toBe(listed);
    expect(() => edited('pay', { defer: held }, listed)).toThrow(
      'security.defer.tools.pay is a list of rules; edit it in service.yaml',
    );
  });

  it('are not edited where a tool has several target groups', () => {
    const grouped = text.replace(
      /pay: # money[\s\S]*?# short/,
      'pay: {to: "channel:console:*", quorum: {"group:legal": 1}}',
    );
    const [rules] = rulesIn(grouped, ['pay']);
    expect(rules).toMatchObject({ listed: ['defer'], defer: null });
    expect(edited('pay', {}, grouped)).toBe(grouped);
    expect(() => edited('pay', { defer: held }, grouped)).toThrow(
      'security.defer.tools.pay asks several groups; edit it in service.yaml',
    );
  });

  it.each([
    [
      'of a single rule',
      'pay',
      'defer.tools.pay',
      'args.amount > 5.0',
      '        when: args.amount > 5.0\n',
    ],
    [
      'of a denied tool',
      'break',
      'guardrails.denied_tools[0]',
      'true',
      '{tool: break, when: "true"}',
    ],
  ])('get a condition %s, on its own line', (_, tool, rule, when, line) => {
    const [rules] = rulesIn(text, [tool]);
    const conditions = rules!.conditions.map((one) => (one.rule === rule ? { ...one, when } : one));
    const after = edited(tool, { conditions });
    expect(after).toContain(line);
    const [added] = rulesIn(after, [tool]);
    expect(added!.conditions.find((one) => one.rule === rule)?.when).toBe(when);
    const without = added!.conditions.map((one) => ({ ...one, when: '' }));
    expect(load(edited(tool, { conditions: without }, after))).toEqual(
      tool === 'pay' ? load(text) : expect.objectContaining({ agent_id: 'till' }),
    );
  });

  it('get changed conditions in a list, each on its own line, and no other line changes', () => {
    const listed = `${text.replace(
      /pay: # money[\s\S]*?# short/,
      `pay:
        - {when: 'args.amount <= 5.0', allow: true} # small
        - to: channel:console:desk
          when: |
            args.amount > 9.0
        - {to: channel:console:desk}`,
    )}  modify: {tools: {}}\n`;
    const [rules] = rulesIn(listed, ['pay']);
    expect(rules).toMatchObject({ listed: ['defer'], defer: null });
    expect(rules!.conditions.map(({ rule, when }) => [rule, when])).toEqual([
      ['defer.tools.pay[0]', 'args.amount <= 5.0'],
      ['defer.tools.pay[1]', 'args.amount > 9.0\n'],
      ['defer.tools.pay[2]', ''],
    ]);
    const whens = ['args.amount <= 7.0', '', 'has(caller.email)'];
    const conditions = rules!.conditions.map((one, index) => ({ ...one, when: whens[index]! }));
    expect(edited('pay', { conditions }, listed).split('\n')).toEqual(
      listed
        .replace("{when: 'args.amount <= 5.0', allow", '{when: args.amount <= 7.0, allow')
        .replace('          when: |\n            args.amount > 9.0\n', '')
        .replace(
          '- {to: channel:console:desk}',
          '- {to: channel:console:desk, when: has(caller.email)}',
        )
        .split('\n'),
    );
  });

  it('accept any text as a condition, and no other meaning changes', () => {
    const from = text.replace('[break, cli-execute]', '[break, {tool: pay, when: "true"}]');
    const [rules] = rulesIn(from, ['pay']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 1 }), (words, place) => {
        fc.pre(words.trim() !== '');
        const conditions = rules!.conditions.map((one, index) =>
          index === place ? { ...one, when: words } : one,
        );
        const wanted: any = load(from);
        const { guardrails, defer } = wanted.security;
        const rule = place === 0 ? guardrails.denied_tools[1] : defer.tools.pay;
        rule.when = words.trim();
        expect(load(edited('pay', { conditions }, from))).toEqual(wanted);
      }),
    );
  });

  it('refuse the condition of a missing rule', () => {
    const conditions = [{ rule: 'defer.tools.pay[7]', when: 'true', terms: '' }];
    expect(() => edited('pay', { conditions })).toThrow('pay has no rule defer.tools.pay[7]');
  });

  it('are written unchanged where nothing changes', () => {
    expect(edited('pay', {})).toBe(text);
    expect(edited('echo', {})).toBe(text);
  });

  it('change only where edited, and keep the comments', () => {
    const after = edited('pay', {
      defer: { ...held, timeout: '10m', quorum: 2, approvers: ['a@x.org', 'b@x.org'] },
    });
    for (const comment of ['# the till', '# who is asked', '# money', '# short']) {
      expect(after).toContain(comment);
    }
    expect(load(after)).toMatchObject({
      security: {
        defer: {
          tools: {
            pay: {
              to: 'channel:console:desk',
              timeout: '10m',
              quorum: 2,
              approvers: ['a@x.org', 'b@x.org'],
              context_template: '{args}',
            },
          },
        },
      },
    });
  });

  it('keep every other line', () => {
    const from = `agent_id:   "till"

security:
    # those who decide
    defer:   # held
        # on since spring
        tools:
            # the money
            pay:
                to: 'channel:console:desk'   # ours

                timeout: "5m"
            send: {to:  "channel:console:*"}
    guardrails: {enabled: true, denied_tools: ['a',   "b"]}
list:
- "x"   # kept
`;
    const paid = edited(
      'pay',
      { defer: { ...held, timeout: '10m', quorum: 2 }, acr: 'gold' },
      from,
    );
    const after = edited('send', { defer: null, deny: true }, paid);
    expect(after).toBe(`agent_id:   "till"

security:
    # those who decide
    defer:   # held
        # on since spring
        enabled: true
        tools:
            # the money
            pay:
                to: 'channel:console:desk'   # ours

                timeout: 10m
                quorum: 2
    guardrails: {enabled: true, denied_tools: ['a',   "b", send]}
    step_up:
      enabled: true
      tools:
        pay:
          acr: gold
list:
- "x"   # kept
`);
  });

  it.each([
    'a: {b: c}\nd:\n- e\n',
    'a: { b: c }\nd:\n    - e\n    - f: g\n',
    'a: [b, c]\nd:\n  e:\n    - f\n',
  ])('keep the style of other lines, %#', (other) => {
    const after = edited('echo', { acr: 'gold' }, other);
    expect(after.startsWith(other)).toBe(true);
  });

  it('are removed with their last setting, and switch their layer on with the first one and off with the last', () => {
    expect(rulesIn(edited('cli_execute', { deny: false }), ['cli_execute', 'break'])).toMatchObject(
      [{ deny: false }, { deny: true }],
    );
    expect(load(edited('pay', { defer: null }))).toMatchObject({
      security: { defer: { enabled: false, tools: {} } },
    });
    const after = edited(
      'echo',
      {
        deny: true,
        acr: 'gold',
        defer: { ...held, to: ['channel:a:b', 'channel:c:d'] },
        modify: 'arguments: [{path: currency, set: EUR}]',
      },
      'agent_id: till\n',
    );
    expect(load(after)).toEqual({
      agent_id: 'till',
      security: {
        guardrails: { enabled: true, denied_tools: ['echo'] },
        defer: {
          enabled: true,
          tools: { echo: { to: ['channel:a:b', 'channel:c:d'], timeout: '5m' } },
        },
        step_up: { enabled: true, tools: { echo: { acr: 'gold' } } },
        modify: {
          enabled: true,
          tools: { echo: { arguments: [{ path: 'currency', set: 'EUR' }] } },
        },
      },
    });
  });

  it.each(['[', 'a text', `${'['.repeat(2_000)}`, '- a'])(
    'accept no snippet such as %.10s',
    (modify) => {
      expect(() => edited('echo', { modify })).toThrow(/^the rules of echo under MODIFY/);
    },
  );

  it.each(['constructor', 'toString', '__proto__'])(
    'work for a tool named %s like for any other',
    (tool) => {
      const none = {
        tool,
        deny: false,
        defer: null,
        acr: '',
        modify: '',
        listed: [] as [],
        conditions: [],
      };
      expect(rulesIn('security: {defer: {tools: {}}, modify: {tools: {}}}', [tool])).toEqual([
        none,
      ]);
      if (tool === '__proto__') return;
      const after = edited(tool, { defer: held, modify: 'arguments: []' });
      expect(rulesIn(after, [tool])).toMatchObject([
        { tool, deny: false, acr: '', defer: held, modify: 'arguments: []\n' },
      ]);
    },
  );

  it.each([
    'security:\nagent_id: till\n',
    'security:\n  defer:\n  modify: ~\n',
    'security:\n  defer:\n    enabled: false\n    tools:\n',
  ])('are added to a key without a value, %#', (from) => {
    const after = edited('echo', { defer: held, modify: 'arguments: []' }, from);
    const said = { tool: 'echo', deny: false, defer: held, acr: '', modify: 'arguments: []\n' };
    expect(rulesIn(after, ['echo'])).toMatchObject([said]);
  });

  it('keep the comment of a key without a value', () => {
    const from = 'security: # governed\n  defer: # held\n    tools: # none yet\n# end\n';
    const comments = edited('echo', { defer: held }, from).match(/#.*/g);
    expect(comments).toEqual(['# governed', '# held', '# none yet', '# end']);
  });

  it('keep line ends', () => {
    const windows = text.replaceAll('\n', '\r\n');
    const change = { defer: { ...held, timeout: '10m' } };
    expect(edited('pay', change, windows)).toBe(edited('pay', change).replaceAll('\n', '\r\n'));
  });

  it('are removed from a list under every spelling of a name', () => {
    const from = 'security: {guardrails: {denied_tools: [a_b, 1, a-b, c, a_b]}}\n';
    expect(edited('a-b', { deny: false }, from)).toBe(
      'security: {guardrails: {denied_tools: [1, c]}}\n',
    );
  });

  it('must be edited by hand where a tool has two entries', () => {
    const from = 'security: {step_up: {tools: {a_b: {acr: x}, a-b: {acr: y}}}}\n';
    expect(() => edited('a-b', { acr: '' }, from)).toThrow(/^security is written in a way/);
  });

  it.each([
    ['an alias', 'x: &t {pay: {to: a}}\nsecurity:\n  defer:\n    tools: *t\n'],
    ['a text', 'security: all\n'],
    ['a list', 'security: [defer]\n'],
    ['a shared anchor', 'security: {defer: {tools: {pay: &p {to: a}, break: *p}}}\n'],
  ])('must be edited by hand where %s is in their place', (_, from) => {
    expect(() => edited('pay', { defer: { ...held, timeout: '' } }, from)).toThrow(
      /^security is written in a way that its rules cannot be edited in; change it by hand$/,
    );
  });

  it('are not read from invalid YAML', () => {
    expect(() => rulesIn('a: [', ['pay'])).toThrow('the file is not valid YAML; fix it first');
    expect(() => rulesIn('['.repeat(4_000), ['pay'])).toThrow('the file is not valid YAML');
  });
});
