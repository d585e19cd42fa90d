import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectOutcome, type Outcome, transports } from '../../helpers/governed-run.ts';
import {
  decided,
  layersSay,
  rewritten,
  running,
  thought,
  waits,
} from '../../helpers/governed-words.ts';

const args = { amount: 5, to: 'Maja' };
const script = [{ tool: 'pay', args }, { say: 'heard: {result}' }];
const context = 'tool=pay args={"amount":5,"to":"Maja"}';
const approval = { decision: 'approve', approver: 'ann' };
const rejection = { decision: 'reject', approver: 'ann', note: 'too much' };
const awaiting = layersSay(
  { defer: ['defer', 'awaiting channel:console:desk'] },
  { last: 'defer' },
);
const awaited = layersSay({ defer: ['defer', 'awaiting channel:console:desk'] });

/** Settings that hold `pay`, with these rules on top. */
function holding(rule: object = {}, defer: object = {}, security: object = {}) {
  const pay = { to: 'channel:console:desk', timeout: '5m', ...rule };
  return { security: { defer: { enabled: true, tools: { pay }, ...defer }, ...security } };
}

/** What comes of a hold that ends with these events and nothing more. */
function ends(text: string, events: Outcome['events'], opened = waits(context)): Outcome {
  return {
    state: 'failed',
    text,
    events: [thought, opened, ...events],
    decisions: awaiting,
    states: ['deferred', 'failed'],
  };
}

const released: Outcome = {
  state: 'completed',
  text: `heard: ${JSON.stringify(args)}`,
  events: [thought, waits(context), decided('approve'), ...running(), thought],
  decisions: awaited,
  ran: [['pay', args]],
  states: ['deferred', 'completed'],
};

describe.each(transports)('DEFER, over %s:', (transport) => {
  it('a rejection ends the task', async () => {
    await expectOutcome(
      transport,
      { settings: holding(), script, decision: rejection },
      ends('defer: rejected by ann: too much', [decided('reject', { note: 'too much' })]),
    );
  });

  it('a timeout ends the task', async () => {
    const settings = holding({ timeout: '60ms' }, { on_reject: 'tool_result' });
    await expectOutcome(
      transport,
      { settings, script },
      ends(
        'defer: no decision within 60ms (auto-deny)',
        [['task_deferred_timeout', { tool: 'pay', timeout_ms: 60 }]],
        waits(context, { timeout_ms: 60 }),
      ),
    );
  });
});

const unheld: Outcome = {
  ...released,
  events: [thought, ...running(), thought],
  decisions: layersSay({}),
  states: ['completed'],
};

describe('DEFER as configured:', () => {
  it('the model receives a rejection under on_reject: tool_result', async () => {
    await expectOutcome(
      'REST',
      { settings: holding({}, { on_reject: 'tool_result' }), script, decision: rejection },
      {
        ...ends('', [decided('reject', { note: 'too much' }), thought]),
        state: 'completed',
        text: 'heard: defer: rejected by ann: too much',
        states: ['deferred', 'completed'],
      },
    );
  });

  it('the model receives a timeout under on_timeout: tool_result', async () => {
    await expectOutcome(
      'REST',
      { settings: holding({ timeout: '60ms' }, { on_timeout: 'tool_result' }), script },
      {
        ...ends(
          '',
          [['task_deferred_timeout', { tool: 'pay', timeout_ms: 60 }], thought],
          waits(context, { timeout_ms: 60 }),
        ),
        state: 'completed',
        text: 'heard: defer: no decision within 60ms (auto-deny)',
        states: ['deferred', 'completed'],
      },
    );
  });

  it('a waiting call reminds and escalates before it times out', async () => {
    const rule = { timeout: '1600ms', remind: true, escalate_to: 'channel:dashboard:*' };
    await expectOutcome(
      'REST',
      { settings: holding(rule), script },
      ends(
        'defer: no decision within 1.6s (auto-deny)',
        [
          ['task_deferred_reminder', { tool: 'pay', to: 'channel:console:desk' }],
          ['task_deferred_escalated', { tool: 'pay', to: 'channel:dashboard:*' }],
          ['task_deferred_timeout', { tool: 'pay', timeout_ms: 1600 }],
        ],
        waits(context, { timeout_ms: 1600 }),
      ),
    );
  });

  it('the arguments after MODIFY are shown, approved and run', async () => {
    const arguments_ = [{ path: 'amount', set: 3 }];
    const modify = { enabled: true, tools: { pay: { arguments: arguments_ } } };
    const made = { amount: 3, to: 'Maja' };
    const digest = createHash('sha256')
      .update('{"args":{"amount":3,"to":"Maja"},"tool":"pay"}')
      .digest('hex');
    await expectOutcome(
      'REST',
      {
        settings: holding({}, {}, { modify }),
        script,
        decision: { ...approval, args_sha256: digest },
        async whileHeld(agent, { metadata }) {
          const { deferral } = metadata;
          expect(deferral.args_sha256).toBe(digest);
          expect((await agent.get('/deferrals')).body).toEqual({
            deferrals: [
              {
                id: deferral.id,
                deferral_id: deferral.id,
                task_id: 't1',
                title: 'pay Maja five',
                tool: 'pay',
                to: 'channel:console:desk',
                timeout: '5m0s',
                context: 'tool=pay args={"amount":3,"to":"Maja"}',
                args: made,
                args_sha256: digest,
                runs_sha256: deferral.runs_sha256,
                modified: 'rewritten by rule 1',
                changes: [{ path: 'amount', before: '5', after: '3' }],
                requester: null,
                requested_at: deferral.requested_at,
                expires_at: deferral.expires_at,
                approvers: null,
                quorum: 1,
                approvals: [],
              },
            ],
            total: 1,
          });
        },
      },
      {
        ...released,
        text: `heard: ${JSON.stringify(made)}`,
        events: [
          thought,
          rewritten([1]),
          waits('tool=pay args={"amount":3,"to":"Maja"}'),
          decided('approve'),
          ...running(),
          thought,
        ],
        decisions: layersSay({
          modify: ['modify', 'rewritten by rule 1', [{ path: 'amount', before: '5', after: '3' }]],
          defer: ['defer', 'awaiting channel:console:desk'],
        }),
        ran: [['pay', made]],
      },
    );
  });

  it('an approval lets the call run under on_reject: tool_result', async () => {
    const settings = holding({}, { on_reject: 'tool_result' });
    await expectOutcome('REST', { settings, script, decision: approval }, released);
  });

  it('the default time and a custom template apply as well', async () => {
    const settings = holding(
      { timeout: undefined, context_template: '{tool}: {args}?' },
      { default_timeout: '80ms' },
    );
    await expectOutcome(
      'REST',
      { settings, script },
      ends(
        'defer: no decision within 80ms (auto-deny)',
        [['task_deferred_timeout', { tool: 'pay', timeout_ms: 80 }]],
        waits('pay: {"amount":5,"to":"Maja"}?', { timeout_ms: 80 }),
      ),
    );
  });

  it('a tool without an entry is not held', async () => {
    const settings = {
      security: { defer: { enabled: true, tools: { sign: { to: 'channel:console:*' } } } },
    };
    await expectOutcome('REST', { settings, script }, unheld);
  });

  it('nothing is held while DEFER is off', async () => {
    await expectOutcome('REST', { settings: holding({}, { enabled: false }), script }, unheld);
  });
});

describe('an approval of the arguments before MODIFY', () => {
  it('does not count', async () => {
    const modify = { enabled: true, tools: { pay: { arguments: [{ path: 'to', remove: true }] } } };
    const before = createHash('sha256')
      .update(JSON.stringify({ args, tool: 'pay' }))
      .digest('hex');
    const made = 'tool=pay args={"amount":5}';
    await expectOutcome(
      'REST',
      {
        settings: holding({}, {}, { modify }),
        script,
        decision: rejection,
        async whileHeld(agent) {
          const answer = await agent.decide('t1', { ...approval, args_sha256: before });
          expect(answer.status).toBe(409);
        },
      },
      {
        ...ends('defer: rejected by ann: too much', []),
        events: [thought, rewritten([1]), waits(made), decided('reject', { note: 'too much' })],
        decisions: layersSay(
          {
            modify: ['modify', 'rewritten by rule 1', [{ path: 'to', before: '"Maja"' }]],
            defer: ['defer', 'awaiting channel:console:desk'],
          },
          { last: 'defer' },
        ),
      },
    );
  });
});
