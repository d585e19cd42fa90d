import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import { cleanUp, holdpoint, refundAgent, temporaryFolder } from './holdpoint.ts';

afterAll(cleanUp);

describe.concurrent('validate', () => {
  it('prints the checks of a valid agent', async () => {
    const dir = await refundAgent();
    const [plain, json] = await Promise.all([
      holdpointHere(['validate', '--dir', dir]),
      holdpointHere(['validate', '--dir', dir, '--json']),
    ]);
    expect(plain).toEqual({
      code: 0,
      signal: null,
      stderr: '',
      stdout: `service.yaml and 1 skill are valid
  agent  refunds 1.0.0
  model  scripted demo
  tools  datetime_now, issue_refund, lookup_order
  held   issue_refund
  rules  issue_refund: defer.tools.issue_refund[0], defer.tools.issue_refund[1], limits.small_refunds
`,
    });
    expect(JSON.parse(json.stdout)).toEqual({
      ...{ valid: true, problems: [], warnings: [] },
      rules: {
        issue_refund: [
          ...['defer.tools.issue_refund[0]', 'defer.tools.issue_refund[1]', 'limits.small_refunds'],
        ],
      },
    });
  });

  it('shows rules in shadow, which hold no tool', async () => {
    const dir = await temporaryFolder();
    await writeFile(
      join(dir, 'service.yaml'),
      `agent_id: g
gate: {tools: {pay: {}, look: {}, ask: {}}}
security:
  guardrails: {enabled: true, denied_tools: [{tool: look, shadow: true}]}
  limits: {a_day: {tools: [pay], per: 24h, max: 5, over: deny, shadow: true}}
  defer:
    enabled: true
    tools:
      pay: {to: "channel:console:*", shadow: true}
      look: {allow: true}
      ask: {to: "channel:console:*"}
`,
    );
    const { stdout } = await holdpointHere(['validate', '--dir', dir]);
    expect(stdout.split('\n').slice(-5)).toEqual([
      '  held   ask',
      '  rules  ask: defer.tools.ask',
      '  rules  look: guardrails.denied_tools[0] (shadow), defer.tools.look',
      '  rules  pay: defer.tools.pay (shadow), limits.a_day (shadow)',
      '',
    ]);
    const { stdout: json } = await holdpointHere(['validate', '--dir', dir, '--json']);
    expect(JSON.parse(json).shadow).toEqual([
      ...['guardrails.denied_tools[0]', 'defer.tools.pay', 'limits.a_day'],
    ]);
    const explained = await holdpointHere(['policy', 'explain', 'pay', '--dir', dir]);
    expect(explained.stdout).toContain(
      'would run\n  in shadow, defer.tools.pay would have decided: defer\n',
    );
  });

  it('shows which rules count for each name, its own first and then those of patterns', async () => {
    const dir = await temporaryFolder();
    await writeFile(
      join(dir, 'service.yaml'),
      `agent_id: g
gate: {tools: {"gh_*": {}}}
security:
  guardrails: {enabled: true, denied_tools: [gh_delete]}
  defer:
    enabled: true
    tools:
      "gh_*": {to: "channel:console:*"}
      gh_create: [{when: 'args.private == true', allow: true}, {to: "channel:console:security"}]
`,
    );
    const { stdout } = await holdpointHere(['validate', '--dir', dir]);
    expect(stdout.split('\n').filter((line) => line.includes('rules'))).toEqual([
      '  rules  gh_*: defer.tools.gh_*',
      '  rules  gh_create: defer.tools.gh_create[0], defer.tools.gh_create[1], defer.tools.gh_*',
      '  rules  gh_delete: guardrails.denied_tools[0], defer.tools.gh_*',
    ]);
    const explained = await holdpointHere(['policy', 'explain', 'gh_merge', '--dir', dir]);
    expect(explained.code).toBe(0);
    expect(explained.stdout).toContain('would wait for channel:console:*');
  });

  it('refuses folders that scripts must not write, at their place, and creates none', async () => {
    const dir = await refundAgent(
      'agent_id: refunds\negress:\n  writable:\n    - data\n    - new/work\n    - scripts\n    - ../out\n    - data/today\n',
    );
    const { code, stdout } = await holdpointHere(['validate', '--dir', dir, '--json']);
    const { problems } = JSON.parse(stdout) as { problems: object[] };
    expect({ code, problems }).toEqual({
      code: 5,
      problems: [
        {
          ...{ file: 'service.yaml', line: 6, column: 7, path: 'egress.writable.2' },
          message: 'scripts may not write scripts; name a folder apart from it',
        },
        {
          ...{ file: 'service.yaml', line: 7, column: 7, path: 'egress.writable.3' },
          message: 'this leads out of the folder of the agent; name one in it, such as work',
        },
        {
          ...{ file: 'service.yaml', line: 8, column: 7, path: 'egress.writable.4' },
          message: 'an earlier folder of the list is, holds or lies in this; keep one',
        },
      ],
    });
    expect(existsSync(join(dir, 'new'))).toBe(false);
  });

  it('refuses the folder of the socket of an audit sink', async () => {
    const dir = await refundAgent(
      'agent_id: refunds\naudit:\n  sinks: [{type: unix, path: run/audit.sock}]\negress:\n  writable: [run, runs]\n',
    );
    const { code, stdout } = await holdpointHere(['validate', '--dir', dir, '--json']);
    const { problems } = JSON.parse(stdout) as { problems: { message: string }[] };
    expect([code, problems.map(({ message }) => message)]).toEqual([
      5,
      ['scripts may not write run/audit.sock; name a folder apart from it'],
    ]);
  });

  it('names the hosts that scripts mention and no entry covers', async () => {
    const dir = await refundAgent();
    await writeFile(join(dir, 'scripts', 'lib.sh'), '\ncurl -s https://api.example.com/v1\n');
    const { code, stderr, stdout } = await holdpointHere(['validate', '--dir', dir, '--json']);
    expect(code).toBe(0);
    const message =
      'this script mentions api.example.com, which no entry covers; add it to egress_domains of the skill refunds, or to egress.allowed_domains';
    expect(stderr).toContain(`scripts/lib.sh:2:9: warning: ${message}`);
    expect(JSON.parse(stdout).warnings).toEqual([
      expect.objectContaining({ file: 'scripts/lib.sh', line: 2, column: 9, message }),
    ]);
  });

  it.each([
    ['validate', ['validate']],
    ['run', ['run', '--port', '0']],
  ])('%s exits with 5 for a rule that holds nothing', async (_, command) => {
    const dir = await refundAgent(holding('isue_refund: {to: "channel:console:*"}'));
    const { code, stdout, stderr } = await holdpoint([...command, '--dir', dir]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toContain(
      'service.yaml:6:13: the agent has no tool isue_refund, so this rule has no effect; the nearest is issue_refund; write optional: true for a tool that comes later\n',
    );
  });

  it('lists the held tools under their names', async () => {
    const later = 'comes_later: {to: "channel:console:*", optional: true}';
    const dir = await refundAgent(holding(`issue-refund: {to: "channel:console:*"}, ${later}`));
    const { code, stdout, stderr } = await holdpointHere(['validate', '--dir', dir]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('\n  held   issue_refund\n');
  });

  it('lists every problem with its place and exits with 5', async () => {
    const dir = await refundAgent(
      [
        'agent_id: refunds',
        'model: {provider: scripted, name: demo}',
        'security:',
        '  defer:',
        '    enabled: true',
        '    tools:',
        '      issue_refund:',
        '        to: "channel:console:*"',
        '        timeout: soon',
        '        quorm: 2',
        '',
      ].join('\n'),
    );
    await writeFile(join(dir, 'SKILL.md'), '---\nname: [\n---\n');
    const [plain, json] = await Promise.all([
      holdpointHere(['validate', '--dir', dir]),
      holdpointHere(['validate', '--dir', dir, '--json']),
    ]);
    expect(plain).toMatchObject({ code: 5, stdout: '' });
    const lines = plain.stderr.trimEnd().split('\n');
    expect(lines.map((line) => /^[\w.]+:\d+:\d+: /.exec(line)?.[0] ?? line)).toEqual([
      'service.yaml:9:18: ',
      'service.yaml:10:9: ',
      expect.stringMatching(/^SKILL\.md:\d+:\d+: $/),
      "error: 3 problems in the agent's files; fix what is listed and try again",
    ]);
    expect(JSON.parse(json.stdout)).toEqual({
      valid: false,
      problems: [
        expect.objectContaining({ file: 'service.yaml', line: 9, column: 18 }),
        expect.objectContaining({ file: 'service.yaml', line: 10, column: 9 }),
        expect.objectContaining({ file: 'SKILL.md' }),
      ],
      warnings: [],
      error: {
        code: 'config_invalid',
        message: "3 problems in the agent's files",
        hint: 'fix what is listed and try again',
      },
    });
  });

  it('reports problems of the skills of a valid service.yaml', async () => {
    const dir = await refundAgent();
    await writeFile(join(dir, 'SKILL.md'), '---\nname: [\n---\n');
    const { code, stderr } = await holdpointHere(['validate', '--dir', dir]);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^SKILL\.md:\d+:\d+: .+\nerror: 1 problem in the agent's files; .+\n$/);
  });

  it('prints warnings and exits with 0', async () => {
    const dir = await refundAgent('agent_id: refunds\nmodl: {provider: scripted}\n');
    const { code, stderr } = await holdpointHere(['validate', '--dir', dir]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^service\.yaml:2:1: warning: /);
  });

  it('exits with 5 for a folder without an agent', async () => {
    const dir = await temporaryFolder();
    const { code, stderr } = await holdpointHere(['validate', '--dir', dir]);
    expect(code).toBe(5);
    expect(stderr).toContain(`service.yaml:1:1: there is no service.yaml in ${dir}`);
  });
});

/** A `service.yaml` that holds calls by these rules, which stand in line 6. */
function holding(rules: string): string {
  return [
    'agent_id: refunds',
    'model: {provider: scripted, name: demo}',
    'security:',
    '  defer:',
    '    enabled: true',
    `    tools: {${rules}}`,
    '',
  ].join('\n');
}
