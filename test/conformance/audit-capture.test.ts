import { describe, expect, it } from 'vitest';
import { withoutCall } from '../helpers/call-fields.ts';
import { type GovernedAgent, startGovernedAgent } from '../helpers/governed-agent.ts';
import { readLog } from '../helpers/kept-log.ts';
import { type AuditLine, expectIntact } from '../helpers/test-agent.ts';

const everything = { tool_args: true, tool_result: true, llm_messages: true };

/** The contents of the events of a task, in order; events without contents are omitted. */
function contentsOf(lines: AuditLine[]): Record<string, string>[] {
  return lines.flatMap(({ fields = {} }) => {
    const { args, result, messages } = fields;
    const contents = { args, result, messages };
    const present = Object.entries(contents).filter(([, text]) => text !== undefined);
    return present.length === 0 ? [] : [Object.fromEntries(present)];
  });
}

/** Messages without the ids of calls, which differ in every run. */
function messagesOf({ messages = '[]' }: Record<string, string>): unknown {
  return JSON.parse(messages, (key, value: unknown) => (key === 'id' ? undefined : value));
}

const script = [
  { tool: 'pay', args: { amount: 5, to: 'ann' } },
  { tool: 'tell', args: { text: 'thanks, ann@example.com' } },
  { say: 'got {result}' },
];

const governed = {
  security: {
    modify: {
      enabled: true,
      tools: { pay: { arguments: [{ path: 'amount', set: 3 }] } },
    },
    guardrails: { enabled: true, redact: ['email'] },
  },
};

describe('contents in the audit log', () => {
  it('are omitted by default', async () => {
    const agent = await startGovernedAgent(governed);
    await agent.send('t1', script);
    const keys = agent
      .audit('t1')
      .map(({ event, fields }) => [event, Object.keys(withoutCall(fields))]);
    const called = [
      'llm_call',
      ['duration_ms', 'input_tokens', 'model', 'output_tokens', 'provider'],
    ];
    const ran = [
      ['call_ruled', ['decision', 'layer', 'reason', 'tool']],
      ['tool_exec', ['args_size', 'phase', 'tool']],
      ['tool_exec', ['args_size', 'duration_ms', 'outcome', 'phase', 'result_size', 'tool']],
    ];
    expect(keys).toEqual([
      ['session_start', []],
      called,
      ['tool_call_modified', ['part', 'rules', 'tool']],
      ...ran,
      called,
      ...ran,
      ['guardrail_check', ['decision', 'gate', 'rule', 'tool']],
      called,
      ['session_end', ['state']],
    ]);
    expect(readLog(agent.auditPath)).not.toContain('ann');
    expect(agent.audit()[0]).toMatchObject({
      event: 'policy_loaded',
      fields: { deferred_tools: [] },
    });
    expect(agent.audit()[0]?.fields).not.toHaveProperty('capture');
  });

  it("are the tool's input, its result and every model turn, after the redaction rules", async () => {
    const agent = await startGovernedAgent({ ...governed, audit: { capture: everything } });
    await agent.send('t1', script);
    const [asked, paid, receipt, asked2, told, thanks, answered, ...rest] = contentsOf(
      agent.audit('t1'),
    );
    expect(rest).toEqual([]);
    const shown = JSON.parse(
      JSON.stringify(script).replaceAll('ann@example.com', '[redacted:email]'),
    );
    const request = { role: 'user', parts: [{ kind: 'data', data: { script: shown } }] };
    const call = (tool: string, args: object) => ({ role: 'agent', calls: [{ tool, args }] });
    const heard = (tool: string, content: string) => ({ role: 'tool', tool, content });
    expect([paid, receipt, told, thanks]).toEqual([
      { args: '{"amount":3,"to":"ann"}' },
      { result: '{"amount":3,"to":"ann"}' },
      { args: '{"text":"thanks, [redacted:email]"}' },
      { result: 'thanks, [redacted:email]' },
    ]);
    expect([asked, asked2, answered].map((contents) => messagesOf(contents!))).toEqual([
      [request, call('pay', { amount: 5, to: 'ann' })],
      [heard('pay', '{"amount":3,"to":"ann"}'), call('tell', { text: 'thanks, [redacted:email]' })],
      [
        heard('tell', 'thanks, [redacted:email]'),
        { role: 'agent', text: 'got thanks, [redacted:email]' },
      ],
    ]);
    await expectIntact(agent.auditPath);
  });

  it.each([
    ['tool_args', ['args']],
    ['tool_result', ['result']],
    ['llm_messages', ['messages']],
  ])('of the kind %s can be captured alone', async (name, kinds) => {
    const agent = await startGovernedAgent({ audit: { capture: { [name]: true } } });
    await agent.send('t1', [{ tool: 'pay', args: { amount: 1 } }, { say: 'done' }]);
    const found = contentsOf(agent.audit('t1')).flatMap((contents) => Object.keys(contents));
    expect([...new Set(found)]).toEqual(kinds);
    expect(agent.audit()[0]?.fields).toMatchObject({ capture: [name] });
  });

  it('include no result of a call whose output was withheld, nor of one that never ran', async () => {
    const agent = await startGovernedAgent({
      security: {
        guardrails: {
          enabled: true,
          deny_output: [{ pattern: 'till', action: 'block' }],
          deny_commands: [{ pattern: 'empty the' }],
        },
      },
      audit: { capture: { tool_args: true, tool_result: true } },
    });
    await agent.send('t1', [{ tool: 'tell', args: { text: 'the till is open' } }]);
    await agent.send('t2', [{ tool: 'tell', args: { text: 'empty the safe' } }]);
    expect(contentsOf(agent.audit('t1'))).toEqual([{ args: '{"text":"the till is open"}' }]);
    expect(contentsOf(agent.audit('t2'))).toEqual([]);
  });

  it('are cut at max_bytes, and the marker states the size of the original', async () => {
    const capture = { ...everything, max_bytes: 64 };
    const agent = await startGovernedAgent({ audit: { capture } });
    const text = 'ü'.repeat(50);
    await agent.send('t1', [{ tool: 'tell', args: { text } }, { say: 'done' }]);
    const { fields: start } = agent.audit('t1')[3]!;
    const { fields: end } = agent.audit('t1')[4]!;
    expect(start).toMatchObject({
      args: `{"text":"${'ü'.repeat(15)} [cut: 111 bytes in all]`,
      args_size: 111,
    });
    expect(end).toMatchObject({
      result: `${'ü'.repeat(20)} [cut: 100 bytes in all]`,
      result_size: 100,
    });
    for (const contents of contentsOf(agent.audit('t1'))) {
      expect(Buffer.byteLength(Object.values(contents)[0]!)).toBeLessThanOrEqual(64);
    }
  });
});

describe('a failed call', () => {
  /** No hash holds it by chance. */
  const word = 'Q4711';
  const failing = [{ tool: 'fall', args: { text: `card ${word}` } }];
  const failures = (agent: GovernedAgent) =>
    agent.audit('t1').flatMap(({ fields }) => fields?.['error'] ?? []);

  it('is in the log with the kind of failure, and without output of the script', async () => {
    const agent = await startGovernedAgent({});
    const { body } = await agent.send('t1', failing);
    expect(body.status.message.parts[0].text).toContain(`card ${word}`);
    expect(failures(agent)).toEqual(['exit code 3']);
    expect(readLog(agent.auditPath)).not.toContain(word);
  });

  it('is in the log with the output of the script where results are captured', async () => {
    const agent = await startGovernedAgent({ audit: { capture: { tool_result: true } } });
    await agent.send('t1', failing);
    expect(failures(agent)).toEqual([`fall failed with exit code 3: {"text":"card ${word}"}`]);
  });
});

describe('secrets', () => {
  const vault = 'live-key-3f9a7c51';
  const pin = 'till-pin-99417-x';
  const ops = 'ops-token-51c80aa2';
  const detected = `sk-${'a1B2'.repeat(8)}`;
  const env = { VAULT_KEY: vault, SHOP_PIN: pin, OPS_TOKEN: ops };
  const settings = {
    credentials: [
      { tool: 'sign', provider: 'static', spec: { env: { PAY_TOKEN: { from_env: 'VAULT_KEY' } } } },
    ],
    auth: {
      required: true,
      providers: [{ type: 'static_token', name: 'ops', settings: { token_env: 'OPS_TOKEN' } }],
    },
  };
  const metadata = ['metadata: {service: {requires: {env: {required: [SHOP_PIN]}}}}'];

  /** Has every secret said to the model, to a tool and by a tool, and looks for them in the log. */
  async function tellEverything(agent: GovernedAgent): Promise<string> {
    const caller = agent.as(ops);
    const told = [vault, pin, ops, agent.token, detected];
    for (const [index, text] of told.entries()) {
      const args = { text: `line\n${text}\tend` };
      const spoken = [{ tool: 'tell', args }, { say: `{result} ${text}` }];
      expect((await caller.send(`t${index}`, spoken)).status).toBe(200);
    }
    await caller.send('t-signed', [{ tool: 'sign' }, { tool: 'encode' }, { say: '{result}' }]);
    await caller.send('t-fell', [{ tool: 'fall', args: { text: pin } }]);
    await agent.as('wrong-token-77777').get('/tasks');
    await caller.get(`/tasks?token=${ops}`);
    return readLog(agent.auditPath);
  }

  it.each([
    ['on', everything],
    ['off', {}],
  ])('are never in the log, with capture %s', async (_, capture) => {
    const agent = await startGovernedAgent({ ...settings, audit: { capture } }, { env, metadata });
    const text = await tellEverything(agent);
    for (const secret of [vault, pin, ops, agent.token, detected, 'wrong-token-77777']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64').replace(/=+$/, ''));
    }
    await expectIntact(agent.auditPath);
  });

  it('are shown as redacted at their place', async () => {
    const agent = await startGovernedAgent(
      { ...settings, audit: { capture: everything } },
      { env, metadata },
    );
    await tellEverything(agent);
    const redacted = '{"text":"line\\n[redacted:credential]\\tend"}';
    const detectedText = '{"text":"line\\n[redacted:api_key]\\tend"}';
    const args = [0, 1, 2, 3, 4].map((id) => contentsOf(agent.audit(`t${id}`))[1]?.['args']);
    expect(args).toEqual([redacted, redacted, redacted, redacted, detectedText]);
  });
});
