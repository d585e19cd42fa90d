import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runs } from '../../helpers/runs.ts';
import { read } from './reading.ts';

const secret = 'S3CRET-canary-value';

const valid = `agent_id: refunds
model: {provider: scripted, script: [{tool: t, args: {a: 1}}, {say: "\${SECRET}"}]}
tools: [{name: t, config: {key: "\${SECRET}"}}, {name: u}]
channels: [&slack slack, *slack]
auth: {providers: [{type: static_token, name: "\${SECRET}", settings: {token: "\${SECRET}"}}]}
security:
  defer:
    enabled: true
    default_timeout: 5m
    default_approvers: ["\${SECRET}"]
    tools: {t: {to: "channel:slack:#a", timeout: "\${SECRET}", quorum: 2}, u: {to: "\${SECRET}"}}
  step_up: {enabled: false, tools: {t: "\${SECRET}"}}
store: {retention: 7d}
`;

function check(text: string): void {
  const reading = read(text, { SECRET: secret });
  const problems = reading.ok ? [] : reading.problems;
  if (!reading.ok) expect(problems).not.toEqual([]);
  const lines = text.split(/\r\n|\r|\n/).length;
  for (const problem of [...problems, ...reading.warnings]) {
    expect(problem.line).toBeGreaterThanOrEqual(1);
    expect(problem.line).toBeLessThanOrEqual(lines + 1);
    expect(problem.column).toBeGreaterThanOrEqual(1);
    expect(problem.message).not.toBe('');
    expect(problem.message).not.toContain(secret);
  }
}

it('the parser never throws and places every problem, for any text', () => {
  const yamlish = fc.string({
    unit: fc.constantFrom(...'ab:-[]{},&*!|>\'"#%@`\n \t?~<.0$'),
    maxLength: 60,
  });
  fc.assert(fc.property(fc.oneof(fc.string(), yamlish), check), { numRuns: runs(1000) });
});

it('the parser never throws and reveals no secret, for a changed valid file', () => {
  const edit = fc.record({
    at: fc.nat(valid.length),
    length: fc.nat(12),
    text: fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom('null', '[]', '{}', '- ', ': ', '\n', '\n  ', '${SECRET}', '*slack', '!!x '),
    ),
  });
  const texts = fc
    .array(edit, { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce(
        (text, { at, length, text: put }) => text.slice(0, at) + put + text.slice(at + length),
        valid,
      ),
    );
  fc.assert(fc.property(texts, check), { numRuns: runs(500) });
});

it('the parser never throws for any values under the known keys', () => {
  const keys = ['agent_id', 'model', 'tools', 'auth', 'security', 'defer', 'providers', 'enabled'];
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, 0, 1.5, '', 'x', '5m', 'static_token', 'channel:slack:x'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(...keys, 'type', 'script', 'tools', 'step_up', 'approvers', 'settings'),
        tie('tree'),
        { maxKeys: 4 },
      ),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), tree), (value) =>
      check(stringify({ agent_id: 'x', ...value }, { aliasDuplicateObjects: false })),
    ),
    { numRuns: runs(300) },
  );
});
