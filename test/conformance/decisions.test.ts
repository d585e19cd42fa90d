import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../helpers/agent-client.ts';
import {
  deferring,
  launchAgent,
  startTestAgent,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const invalid = {
  status: 400,
  body: { error: 'decision must be "approve" or "reject"', code: 'invalid_body' },
};
const notPending = {
  status: 404,
  body: { error: 'no pending deferral for task', code: 'deferral_not_found' },
};
const forbidden = {
  status: 403,
  body: { error: 'approver not authorized', code: 'approver_not_authorized' },
};

/** Sends a task and resolves once it waits; `held` is its answer. */
async function parked(
  agent: TestAgent,
  id = 't1',
): Promise<{ held: Promise<Answer>; deferral: any }> {
  const held = agent.send(id, pay);
  const { metadata } = await agent.reached(id, 'deferred');
  return { held, deferral: metadata.deferral };
}

describe('an incomplete decision', () => {
  let agent: TestAgent;
  let held: Promise<Answer>;
  beforeAll(async () => {
    agent = await launchAgent(deferring());
    ({ held } = await parked(agent));
    return async () => {
      await agent.post('/tasks/t1/cancel');
      await held;
      await agent.close();
    };
  });

  /** Bodies that are not JSON as it is read. */
  const unread = /^\{"(decision":$|__proto__|decision":"approve","x":\[)/;

  it.each([
    ['nothing', undefined],
    ['an empty object', {}],
    ['a list', ['approve']],
    ['a word', '"approve"'],
    ['null', 'null'],
    ['maybe', { decision: 'maybe' }],
    ['blanks', { decision: '  ' }],
    ['true', { decision: true }],
    ['a list of one', { decision: ['approve'] }],
    ['approved', { decision: 'approved' }],
    ['a dotless i', { decision: 'reȷect' }],
    ['half a body', '{"decision":'],
    ['a prototype', '{"__proto__":{"decision":"approve"}}'],
    ['65 levels', `{"decision":"approve","x":${'['.repeat(64)}${']'.repeat(64)}}`],
  ])('%s is 400, for any caller and task', async (_, body) => {
    for (const id of ['t1', 'unknown', 'a%2Fb']) {
      const answer = await agent.post(`/tasks/${id}/decisions`, body);
      const code = unread.test(String(body)) ? 'invalid_json' : 'invalid_body';
      expect(answer).toMatchObject({ ...invalid, body: { ...invalid.body, code } });
    }
    expect(await agent.reached('t1', 'deferred')).toMatchObject({ id: 't1' });
  });

  it.each([
    [{ approver: 7 }, 'approver must be a string'],
    [{ approver_email: ['a@b.c'] }, 'approver_email must be a string'],
    [{ note: {} }, 'note must be a string'],
    [{ note: 'x'.repeat(2001) }, 'note must be at most 2000 characters'],
    [{ approver: 'x'.repeat(255) }, 'approver must be at most 254 characters'],
    [{ deferral_id: 1 }, 'deferral_id must be a string'],
    [{ args_sha256: 1 }, 'args_sha256 must be a string'],
    [{ deferral_id: null }, 'deferral_id must be a string'],
    [{ deferral_id: [] }, 'deferral_id must be a string'],
    [{ args_sha256: null }, 'args_sha256 must be a string'],
    [{ args_sha256: false }, 'args_sha256 must be a string'],
  ])('with %j is 400 and names the key', async (extra, error) => {
    const answer = await agent.decide('t1', { decision: 'approve', ...extra });
    expect(answer).toMatchObject({ status: 400, body: { error } });
    expect(agent.folder.paid).toEqual([]);
  });

  it('of another type is 415', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = await agent.post('/tasks/t1/decisions', '{"decision":"approve"}', headers);
    expect(answer.status).toBe(415);
  });
});

describe('the order of refusals', () => {
  it('is 400, then 404 or 409, then 403', async () => {
    const agent = await startTestAgent(deferring({ approvers: ['ann@example.com'] }));
    const stranger = { approver_email: 'eve@example.com' };
    const { held } = await parked(agent);
    expect(await agent.decide('t1', { decision: 'perhaps', ...stranger })).toMatchObject(invalid);
    expect(await agent.decide('t9', { decision: 'approve', ...stranger })).toMatchObject(
      notPending,
    );
    expect(await agent.decide('t1', { decision: 'approve', ...stranger })).toMatchObject(forbidden);
    const ann = { decision: 'approve', approver_email: 'ann@example.com' };
    expect((await agent.decide('t1', ann)).status).toBe(200);
    expect((await agent.decide('t1', { decision: 'approve', ...stranger })).status).toBe(409);
    await held;
    expect((await agent.decide('t1', { decision: 'approve', ...stranger })).status).toBe(409);
  });

  it('treats a task that never waited as not pending', async () => {
    const agent = await startTestAgent(deferring());
    await agent.send('plain', [{ say: 'hi' }]);
    expect(await agent.decide('plain', { decision: 'approve' })).toMatchObject(notPending);
  });
});

describe('a decision that needs a reason', () => {
  it('is 400 without one, and the call waits with its rule', async () => {
    const agent = await startTestAgent(deferring({ require_reason: 'both' }));
    const { held } = await parked(agent);
    const { body } = await agent.get('/deferrals');
    expect(body).toMatchObject({ deferrals: [{ require_reason: 'both' }] });
    for (const decision of ['approve', 'reject']) {
      for (const said of [{}, { note: null }, { note: '' }, { note: ' \n ' }]) {
        const error = `this call needs a reason to ${decision} it; send it as note`;
        expect(await agent.decide('t1', { decision, ...said })).toMatchObject({
          status: 400,
          body: { error },
        });
      }
    }
    expect((await agent.decide('t1', { decision: 'approve', note: 'checked' })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
  });
});

describe('a waiting call', () => {
  it('names the arguments that its rule shows in a list, which decide nothing', async () => {
    const display = ['args.amount', 'args.card.last4'];
    const agent = await startTestAgent(deferring({ display }));
    const { held } = await parked(agent);
    const lists = [await agent.get('/deferrals'), await agent.get('/deferrals?order=deadline')];
    expect(lists.map(({ body }) => body.deferrals[0].display)).toEqual([display, display]);
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
  });
});

describe('a decision that counts', () => {
  it.each([' Approve ', 'APPROVE', 'approve\n', '\tapprove'])(
    'may be spelt %j',
    async (decision) => {
      const agent = await startTestAgent(deferring());
      const { held } = await parked(agent);
      const answer = await agent.decide('t1', { decision, shade: 'green' });
      expect(answer.body).toMatchObject({
        decision: 'approve',
        approver: 'unknown',
        status: 'resolved',
      });
      expect(textOf(await held)).toBe('paid');
    },
  );

  it('is stored with text that controls no screen and begins no line', async () => {
    const agent = await startTestAgent(deferring());
    const { held } = await parked(agent);
    const approver = 'Eve\n{"event":"forged"}\r\n\u0007\u001b[31mRED \u202E\ud83d';
    const note = 'no\r\nway\u001b[2J \u2066\ud800';
    const shown = 'Eve {"event":"forged"} [U+0007][U+001B][31mRED [U+202E]\ufffd';
    const reject = { decision: 'reject', approver, note };
    expect((await agent.decide('t1', reject)).body).toMatchObject({ approver: shown });
    const text = `defer: rejected by ${shown}: no\nway[U+001B][2J [U+2066]\ufffd`;
    expect(textOf(await held)).toBe(text);
    expect((await agent.decide('t1', reject)).body).toMatchObject({ approver: shown });
    const fields = agent
      .audit('t1')
      .find(({ event }) => event === 'task_deferred_decision')?.fields;
    expect(fields).toMatchObject({ approver: shown, note: 'no\nway[U+001B][2J [U+2066]\ufffd' });
  });

  it.each(['approve', 'reject'])('is reported to later callers after a %s', async (decision) => {
    const agent = await startTestAgent(deferring());
    const { held } = await parked(agent);
    expect((await agent.decide('t1', { decision, approver: 'ann' })).status).toBe(200);
    for (const second of ['approve', 'reject']) {
      expect(await agent.decide('t1', { decision: second, approver: 'bo' })).toMatchObject({
        status: 409,
        body: {
          error: 'deferral already decided',
          code: 'already_decided',
          decision,
          approver: 'ann',
          decided_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
      });
    }
    await held;
  });

  it('has its audit line stored when it is answered', async () => {
    const agent = await startTestAgent(deferring());
    const { held } = await parked(agent);
    expect((await agent.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(agent.audit('t1').find(({ event }) => event === 'task_deferred_decision')).toMatchObject(
      {
        task_id: 't1',
        fields: { tool: 'pay', decision: 'approve', approver: 'ann', wait_ms: expect.any(Number) },
      },
    );
    await held;
  });

  it('is pinned to the arguments that would run', async () => {
    const agent = await startTestAgent(deferring());
    const { held, deferral } = await parked(agent);
    const approve = { decision: 'approve', approver: 'Ann' };
    const { runs_sha256 } = deferral;
    expect(await agent.decide('t1', { ...approve, runs_sha256: '0'.repeat(64) })).toMatchObject({
      status: 409,
      body: {
        error: 'the pending call would run something else; review it before you decide',
        code: 'runs_differ',
        runs_sha256,
      },
    });
    const pins = { args_sha256: deferral.args_sha256, runs_sha256 };
    expect((await agent.decide('t1', { ...approve, ...pins })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
  });

  it('may be pinned to the deferral and to the shown arguments', async () => {
    const agent = await startTestAgent(deferring());
    const { held, deferral } = await parked(agent);
    const approve = { decision: 'approve' };
    expect(await agent.decide('t1', { ...approve, deferral_id: 'other' })).toMatchObject({
      status: 409,
      body: {
        error: 'another deferral is pending for the task; review it before you decide',
        code: 'deferral_differs',
        deferral_id: deferral.id,
      },
    });
    expect(await agent.decide('t1', { ...approve, args_sha256: '0'.repeat(64) })).toMatchObject({
      status: 409,
      body: {
        error: 'the pending call has other arguments; review them before you decide',
        code: 'arguments_differ',
        args_sha256: deferral.args_sha256,
      },
    });
    expect(agent.folder.paid).toEqual([]);
    const pinned = {
      deferral_id: deferral.id,
      args_sha256: deferral.args_sha256.toUpperCase(),
    };
    expect((await agent.decide('t1', { ...approve, ...pinned })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
  });
});

describe('two deferrals in a row', () => {
  const script = [
    { tool: 'pay', args: { n: 1 } },
    { tool: 'pay', args: { n: 2 } },
    { say: 'both' },
  ];

  it('are decided one by one', async () => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    const first = (await agent.reached('t1', 'deferred')).metadata.deferral;
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    await expect
      .poll(async () => (await agent.get('/deferrals')).body.deferrals[0]?.args)
      .toEqual({ n: 2 });
    const second = (await agent.get('/tasks/t1')).body.metadata.deferral;
    expect(second.id).not.toBe(first.id);
    expect((await agent.decide('t1', { decision: 'approve', deferral_id: first.id })).status).toBe(
      409,
    );
    expect((await agent.decide('t1', { decision: 'approve', deferral_id: second.id })).status).toBe(
      200,
    );
    expect(textOf(await held)).toBe('both');
    expect(agent.folder.paid).toEqual([first.id, second.id]);
  });

  it('drop the first decision when the second wait ends without one', async () => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    await expect
      .poll(async () => (await agent.get('/deferrals')).body.deferrals[0]?.args)
      .toEqual({ n: 2 });
    await agent.post('/tasks/t1/cancel');
    await held;
    expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject(notPending);
  });
});

describe('a reused task id', () => {
  it('is refused while the task runs, and starts a new run once it has ended', async () => {
    const agent = await startTestAgent(deferring());
    const { held } = await parked(agent);
    const error =
      'task t1 waits for approval of pay; name it as the taskId of an A2A message to have that shown to the approvers, or cancel it to call it off';
    expect(await agent.send('t1', pay)).toMatchObject({ status: 409, body: { error } });
    expect(
      (
        await agent.rpc('tasks/send', {
          id: 't1',
          message: { parts: [{ kind: 'text', text: 'x' }] },
        })
      ).body,
    ).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32602, message: error },
    });
    await agent.decide('t1', { decision: 'reject', approver: 'ann' });
    const before = (await held).body;
    const again = (await agent.send('t1', [{ say: 'fresh' }])).body;
    expect(again.status.state).toBe('completed');
    expect(again.contextId).toBe(before.contextId);
    expect(again.history.slice(0, 1)).toEqual(before.history);
    expect(again.history.length).toBe(3);
    const seqs = agent.audit('t1').map(({ seq }) => seq);
    expect(seqs[0]).toBe(1);
  });
});
