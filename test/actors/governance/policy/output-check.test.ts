import { describe, expect, it } from 'vitest';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../../../../src/actors/governance/modify/modify.ts';
import { checkOutput } from '../../../../src/actors/governance/policy/check-output.ts';
import { createOutputCheck } from '../../../../src/actors/governance/policy/output-check.ts';

const secret = 'key-7f3a91-canary';
const { signal } = new AbortController();
const kibibyte = 1024;

function layersWith(blocked: string, replacement = { pattern: 'pence', with: 'p' }) {
  const guardrails = compileGuardrails({
    ...{ deny_commands: [], deny_prompts: [], denied_tools: [], redact: ['email'] },
    deny_output: [{ pattern: blocked, action: 'block' }],
  });
  const modify = compileModify({
    tools: { pay: { arguments: [], output: [{ replace: replacement }] } },
  });
  if (!guardrails.ok || !modify.ok) throw new Error('the rules do not compile');
  return { guardrails: guardrails.guardrails, modify: modify.modify };
}

/** A string of this many characters that holds a credential at each end, as a limit would leave it. */
function textOf(length: number): string {
  const line = 'to ann@example.com: 5 pence\n';
  const middle = line.repeat(Math.ceil(length / line.length));
  return secret + middle.slice(0, length - 2 * secret.length) + secret;
}

describe('the check of output', () => {
  it.each([1, 16, 17, 200])(
    'has the same result for %i KiB, in a worker or in the daemon',
    async (size) => {
      const layers = layersWith('never');
      const text = textOf(size * kibibyte);
      const checked = await createOutputCheck(layers)('pay', text, [secret], signal);
      expect(checked).toEqual(checkOutput('pay', text, [secret], layers));
      expect(checked).toMatchObject({
        kind: 'passed',
        text: expect.stringMatching(/^\[redacted:credential\].*\[redacted:credential\]$/s),
        rewrites: [1],
      });
    },
  );

  it('removes a credential from large output when no rule is on', async () => {
    const check = createOutputCheck({ guardrails: null, modify: null });
    const text = 'x'.repeat(100 * kibibyte);
    expect(await check('pay', text + secret, [secret], signal)).toEqual({
      ...{ kind: 'passed', text: `${text}[redacted:credential]` },
      ...{ findings: [], rewrites: [] },
    });
  });

  it('does not block the daemon', async () => {
    let turns = 0;
    const ticking = setInterval(() => void (turns += 1), 1);
    await createOutputCheck(layersWith('never'))('pay', textOf(300 * kibibyte), [], signal);
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(10);
  });

  it('withholds large output that is blocked', async () => {
    const check = createOutputCheck(layersWith(secret));
    expect(await check('pay', textOf(100 * kibibyte), [secret], signal)).toMatchObject({
      kind: 'withheld',
      findings: [{ gate: 'deny_output', decision: 'block', rule: 'deny_output[0]' }],
    });
  });

  it('fails where a rule cannot be applied, with the same message', async () => {
    const layers = layersWith('never', { pattern: 'e', with: 'e'.repeat(1_000) });
    await expect(
      createOutputCheck(layers)('pay', textOf(100 * kibibyte), [], signal),
    ).rejects.toThrow('rule 1 on the output of pay failed: the text would be longer than 1 MiB');
  });

  it.each<[string, number, boolean, string[]]>([
    ['up to 16 KiB', 16 * kibibyte, true, [secret]],
    ['without anything to search', 17 * kibibyte, false, []],
  ])('runs at once for a string %s, also when its task ends', async (_, size, isOn, known) => {
    const layers = isOn ? layersWith('never') : { guardrails: null, modify: null };
    const text = textOf(size);
    const checked = await createOutputCheck(layers)('pay', text, known, AbortSignal.abort());
    expect(text).toHaveLength(size);
    expect(checked).toEqual(checkOutput('pay', text, known, layers));
  });

  it.each<[string, Partial<ReturnType<typeof layersWith>>, string[]]>([
    ['guardrails', { guardrails: layersWith('never').guardrails }, []],
    ['MODIFY', { modify: layersWith('never').modify }, []],
    ['a credential', {}, [secret]],
  ])(
    'runs in a worker for more than 16 KiB and %s, and stops with its task',
    async (_, on, known) => {
      const check = createOutputCheck({ guardrails: null, modify: null, ...on });
      const text = textOf(16 * kibibyte + 1);
      expect(text).toHaveLength(16 * kibibyte + 1);
      await expect(check('pay', text, known, AbortSignal.abort())).rejects.toMatchObject({
        name: 'AbortError',
      });
    },
  );

  it('stops with its task', async () => {
    const check = createOutputCheck(layersWith('never'));
    const text = textOf(100 * kibibyte);
    await expect(check('pay', text, [], AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
});
