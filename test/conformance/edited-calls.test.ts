import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactVerify, createLocalJWKSet } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Answer } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

const [ann, bo, cy] = ['ann@example.com', 'bo@example.com', 'cy@example.com'];
const to = 'channel:console:desk';
const editable = { to, timeout: '5m', edit: true, approvers: [ann, bo] };

const skill = `---
name: till
description: The tools that tests use.
---
## Tool: pay

Pays.

\`\`\`json
{"type": "object", "properties": {"amount": {"type": "integer"}, "note": {"type": "string"}},
 "required": ["amount"], "additionalProperties": false}
\`\`\`
`;

/** Starts an agent whose `pay` has a schema, with these layers. */
async function agentWith(security: object, settings: object = {}): Promise<TestAgent> {
  const folder = new AgentFolder({ ...settings, security });
  writeFileSync(join(folder.path, 'SKILL.md'), skill);
  const agent = await launchAgent({}, { folder });
  onTestFinished(() => agent.close());
  return agent;
}

const defer = (rules: object, layer: object = {}) => ({
  defer: { enabled: true, tools: { pay: rules }, ...layer },
});

/** Sends a call of 5 and resolves once it waits. */
async function parked(
  agent: TestAgent,
  args: object = { amount: 5 },
): Promise<{ done: Promise<Answer>; deferral: any }> {
  const done = agent.send('t1', [{ tool: 'pay', args }, { say: 'paid {result}' }]);
  const { metadata } = await agent.reached('t1', 'deferred');
  return { done, deferral: metadata.deferral };
}

const approve = (approver_email: string, args?: object) => ({
  decision: 'approve',
  approver_email,
  ...(args === undefined ? {} : { args }),
});

const argsSha256 = (args: object) =>
  createHash('sha256')
    .update(JSON.stringify({ args, tool: 'pay' }))
    .digest('hex');
const changes = [{ path: 'amount', before: '5', after: '4' }];

/** The next deferral of the task, after the one with this id. */
async function heldAgain(agent: TestAgent, { id }: { id: string }): Promise<any> {
  for (;;) {
    const [next] = (await agent.get('/deferrals')).body.deferrals;
    if (next !== undefined && next.id !== id) return next;
    const { state } = (await agent.get('/tasks/t1')).body.status;
    if (state !== 'deferred' && state !== 'working') throw new Error(`the task is ${state}`);
  }
}

describe('an approval that changes the arguments', () => {
  it('runs the changed call, and informs requester, model and approver', async () => {
    const agent = await agentWith(defer(editable), { audit: { sign: true } });
    const { done, deferral } = await parked(agent);
    const { body: shown } = await agent.get(`/deferrals/${deferral.id}`);
    expect(shown).toMatchObject({
      ...{ edit: true, args: { amount: 5 } },
      args_schema: { type: 'object', required: ['amount'] },
    });
    const answer = await agent.decide('t1', approve(ann, { amount: 4 }));
    expect(answer).toMatchObject({
      status: 200,
      body: {
        ...{ task_id: 't1', deferral_id: deferral.id, decision: 'approve', approver: ann },
        ...{ status: 'resolved', edited_args_sha256: argsSha256({ amount: 4 }) },
      },
    });
    const { body } = await done;
    expect(textOf({ body })).toBe('paid {"amount":4}');
    const edit = {
      ...{ deferral_id: deferral.id, approver: ann, at: expect.any(String), changes },
      ...{ args_sha256: argsSha256({ amount: 5 }), edited_args_sha256: argsSha256({ amount: 4 }) },
    };
    expect(body.metadata.edits).toEqual([{ tool: 'pay', ...edit }]);
    const { body: mine } = await agent.get('/deferrals?decided_by=me');
    expect(mine.deferrals).toMatchObject([{ id: deferral.id, edit, outcome: 'ran' }]);
    const fields = (event: string) =>
      agent.audit('t1').flatMap((line) => (line.event === event ? [line.fields] : []));
    expect(fields('task_deferred_decision')).toMatchObject([
      {
        ...{ call_id: deferral.id, args_sha256: argsSha256({ amount: 5 }) },
        edited_args_sha256: argsSha256({ amount: 4 }),
      },
    ]);
    const edited = { call_id: deferral.id, args_sha256: argsSha256({ amount: 4 }) };
    expect(fields('tool_exec')).toMatchObject([edited, edited]);
    expect(fields('call_ruled')).toMatchObject([
      { decision: 'defer', args_sha256: argsSha256({ amount: 5 }) },
      { decision: 'allow', ...edited },
    ]);
    const receipt = await agent.get(`/tasks/t1/calls/${deferral.id}/receipt`);
    const keys = (await agent.get('/.well-known/audit-keys.json')).body;
    const { payload } = await compactVerify(String(receipt.body), createLocalJWKSet(keys));
    expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
      args_sha256: argsSha256({ amount: 4 }),
      decisions: [
        {
          approver: ann,
          args_sha256: argsSha256({ amount: 5 }),
          edited_args_sha256: argsSha256({ amount: 4 }),
        },
      ],
    });
  });

  it.each([
    ['the rule has no edit', { edit: false }, 'approve'],
    ['the decision is a rejection', {}, 'reject'],
  ])('is 400 if %s, and the call waits', async (_, rule, decision) => {
    const agent = await agentWith(defer({ ...editable, ...rule }));
    const { done } = await parked(agent);
    for (const args of [{ amount: 4 }, { amount: 5 }]) {
      expect(await agent.decide('t1', { ...approve(ann, args), decision })).toMatchObject({
        status: 400,
        body: {
          error:
            'only an approval under a rule with edit: true may change the arguments; leave args out',
          code: 'not_editable',
        },
      });
    }
    expect((await agent.decide('t1', approve(ann))).status).toBe(200);
    expect(textOf(await done)).toBe('paid {"amount":5}');
  });

  it.each<[string, unknown, string]>([
    ['a wrong type', { amount: 'four' }, 'pay: argument amount must be integer'],
    ['a missing argument', {}, 'pay: argument amount is missing'],
    ['a surplus argument', { amount: 4, more: 1 }, 'pay: argument more is not known'],
    ['no object', [4], 'args must be an object'],
  ])('is 400 with the finding for %s, and the call waits', async (_, args, finding) => {
    const agent = await agentWith(defer(editable));
    const { done } = await parked(agent);
    const answer = await agent.decide('t1', { ...approve(ann), args });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(finding);
    await agent.reached('t1', 'deferred');
    expect((await agent.decide('t1', approve(ann))).status).toBe(200);
    await done;
  });

  it('is 400 for a number that parsers do not preserve', async () => {
    const agent = await agentWith(defer(editable));
    const { done } = await parked(agent);
    const body = `{"decision":"approve","approver_email":"${ann}","args":{"amount":9007199254740993}}`;
    expect((await agent.post('/tasks/t1/decisions', body)).status).toBe(400);
    await agent.post('/tasks/t1/cancel');
    await done;
  });

  it('reveals no schema to a person who may not decide', async () => {
    const agent = await agentWith(defer(editable));
    const { done } = await parked(agent);
    expect(await agent.decide('t1', approve(cy, { amount: 'x' }))).toMatchObject({
      status: 403,
      body: { error: 'approver not authorized', code: 'approver_not_authorized' },
    });
    await agent.post('/tasks/t1/cancel');
    await done;
  });

  it('is pinned to the original arguments', async () => {
    const agent = await agentWith(defer(editable));
    const { done } = await parked(agent);
    const edit = approve(ann, { amount: 4 });
    const wrong = { ...edit, args_sha256: argsSha256({ amount: 4 }) };
    expect((await agent.decide('t1', wrong)).status).toBe(409);
    const right = { ...edit, args_sha256: argsSha256({ amount: 5 }) };
    expect((await agent.decide('t1', right)).status).toBe(200);
    expect(textOf(await done)).toContain('{"amount":4}');
  });

  it('with equal arguments is a normal approval', async () => {
    const agent = await agentWith(defer(editable));
    const { done } = await parked(agent, { amount: 5, note: 'x' });
    const answer = await agent.decide('t1', approve(ann, { note: 'x', amount: 5 }));
    expect(answer.body).not.toHaveProperty('edited_args_sha256');
    const { body } = await done;
    expect(textOf({ body })).toBe('paid {"amount":5,"note":"x"}');
    expect(body.metadata).toBeUndefined();
  });

  it('works in a list', async () => {
    const agent = await agentWith(defer(editable));
    const { done, deferral } = await parked(agent);
    const pins = { deferral_id: deferral.id, args_sha256: deferral.args_sha256 };
    const decisions = [{ task_id: 't1', ...approve(ann, { amount: 4 }), ...pins }];
    expect((await agent.post('/deferrals/decisions', { decisions })).body).toMatchObject({
      decisions: [{ status: 200, body: { edited_args_sha256: argsSha256({ amount: 4 }) } }],
    });
    expect(textOf(await done)).toContain('{"amount":4}');
  });

  it('counts once, for any concurrent requests', async () => {
    const agent = await agentWith(defer(editable));
    const { done } = await parked(agent);
    const answers = await Promise.all([
      ...[1, 2, 3].map((amount) => agent.decide('t1', approve(ann, { amount }))),
      agent.decide('t1', approve(bo)),
      agent.decide('t1', { ...approve(bo), decision: 'reject' }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await done;
  });
});

describe('the changed call', () => {
  it.each([
    [
      'a denied tool',
      { denied_tools: [{ tool: 'pay', when: 'args.amount > 100', message: 'too much' }] },
      { amount: 500 },
      'denied by guardrail: too much',
    ],
    [
      'a pattern',
      { deny_commands: [{ pattern: 'secret' }] },
      { amount: 1, note: 'secret' },
      'denied by guardrail: secret',
    ],
  ])('is denied by %s', async (_, rules, args, text) => {
    const agent = await agentWith({
      ...defer(editable),
      guardrails: { enabled: true, ...rules },
    });
    const { done } = await parked(agent);
    expect((await agent.decide('t1', approve(ann, args))).status).toBe(200);
    expect(textOf(await done)).toBe(text);
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.decide('t1', approve(ann))).status).toBe(409);
  });

  it('needs the sign-in level of its new arguments', async () => {
    const agent = await agentWith(
      {
        ...defer(editable),
        step_up: { enabled: true, tools: { pay: { when: 'args.amount > 100', acr: 'gold' } } },
      },
      {
        auth: {
          providers: [
            {
              type: 'static_token',
              settings: { token: 'tok-ann', identity: { user_id: 'ann', email: ann } },
            },
          ],
        },
      },
    );
    const caller = agent.as('tok-ann');
    const done = caller.send('t1', [{ tool: 'pay', args: { amount: 5 } }]);
    await expect.poll(async () => (await caller.get('/deferrals')).body.total).toBe(1);
    expect((await caller.decide('t1', approve(ann, { amount: 500 }))).status).toBe(200);
    expect((await done).status).toBe(401);
    expect(agent.folder.paid).toEqual([]);
  });

  it('is held again if MODIFY changes it in a way that its approver did not see', async () => {
    const modify = {
      enabled: true,
      tools: { pay: { when: 'args.amount < 5', arguments: [{ path: 'note', set: 'small' }] } },
    };
    const agent = await agentWith({ ...defer(editable), modify });
    const { done, deferral } = await parked(agent);
    await agent.decide('t1', approve(ann, { amount: 4 }));
    const next = await heldAgain(agent, deferral);
    expect(next).toMatchObject({
      args: { amount: 4, note: 'small' },
      edits: [{ approver: ann, changes }],
      approvals: [],
    });
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.decide('t1', approve(ann))).status).toBe(200);
    expect(textOf(await done)).toContain('{"amount":4,"note":"small"}');
  });

  it('is held for the approvers of its own rule', async () => {
    const agent = await agentWith(
      defer([
        { when: 'args.amount > 100', ...editable, to: 'channel:console:bank', approvers: [cy] },
        editable,
      ]),
      { audit: { sign: true } },
    );
    const { done, deferral } = await parked(agent);
    const { body } = await agent.decide('t1', approve(ann, { amount: 500 }));
    expect(body).toMatchObject({
      status: 'resolved',
      edited_args_sha256: argsSha256({ amount: 500 }),
    });
    const next = await heldAgain(agent, deferral);
    expect(next).toMatchObject({
      ...{ to: 'channel:console:bank', approvers: [cy], approvals: [], args: { amount: 500 } },
      ...{ edits: [{ deferral_id: deferral.id, approver: ann }], expires_at: deferral.expires_at },
    });
    const receipt = await agent.get(`/tasks/t1/calls/${deferral.id}/receipt`);
    const [, claims = ''] = String(receipt.body).split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      ...{ call_id: deferral.id, held_again_as: next.id, ran: null },
      decisions: [{ decision: 'approve', edited_args_sha256: argsSha256({ amount: 500 }) }],
    });
    const { metadata, status } = (await agent.get('/tasks/t1')).body;
    expect(status.message.parts[0].text).toBe(
      `Deferred: awaiting channel:console:bank decision on pay; ${ann} changed its arguments`,
    );
    expect(metadata.edits).toHaveLength(1);
    const late = { ...approve(bo), deferral_id: deferral.id };
    expect((await agent.decide('t1', late)).status).toBe(409);
    expect((await agent.decide('t1', approve(ann))).status).toBe(403);
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.decide('t1', approve(cy))).status).toBe(200);
    expect(textOf(await done)).toContain('{"amount":500}');
    const opened = agent.audit('t1').filter(({ event }) => event === 'task_deferred');
    expect(opened[1]?.fields).toMatchObject({
      call_id: next.id,
      edited_from: {
        ...{ call_id: deferral.id, args_sha256: argsSha256({ amount: 5 }), approver: ann },
      },
    });
  });

  it('runs if no rule holds such a call', async () => {
    const agent = await agentWith(
      defer([
        { when: 'args.amount <= 4', allow: true },
        { ...editable, quorum: 2 },
      ]),
    );
    const { done } = await parked(agent);
    await agent.decide('t1', approve(ann, { amount: 4 }));
    expect(textOf(await done)).toContain('{"amount":4}');
  });

  it('is not reported as decided once its own wait has ended', async () => {
    const agent = await agentWith(
      defer([{ when: 'args.amount > 100', ...editable, approvers: [cy] }, editable]),
    );
    const { done, deferral } = await parked(agent);
    await agent.decide('t1', approve(ann, { amount: 500 }));
    await heldAgain(agent, deferral);
    await agent.post('/tasks/t1/cancel');
    await done;
    expect((await agent.decide('t1', approve(cy))).status).toBe(404);
  });
});

describe('a quorum and a changed call', () => {
  const shared = { ...editable, approvers: [ann, bo, cy], quorum: 2 };

  it('count no approval of the earlier arguments', async () => {
    const agent = await agentWith(defer(shared));
    const { done, deferral } = await parked(agent);
    expect((await agent.decide('t1', approve(ann))).body.status).toBe('recorded');
    expect((await agent.decide('t1', approve(bo, { amount: 4 }))).body.status).toBe('resolved');
    const next = await heldAgain(agent, deferral);
    expect(next).toMatchObject({ args: { amount: 4 }, approvals: [{ approver: bo }], quorum: 2 });
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.decide('t1', approve(bo))).body.status).toBe('recorded');
    expect((await agent.decide('t1', approve(ann))).body.status).toBe('resolved');
    expect(textOf(await done)).toContain('{"amount":4}');
  });

  it('under four_eyes need a person other than the editor', async () => {
    const agent = await agentWith(defer({ ...editable, four_eyes: true }));
    const { done, deferral } = await parked(agent);
    await agent.decide('t1', approve(ann, { amount: 4 }));
    expect(await heldAgain(agent, deferral)).toMatchObject({ approvals: [] });
    expect((await agent.decide('t1', approve(ann))).status).toBe(403);
    expect((await agent.decide('t1', approve(bo))).status).toBe(200);
    expect(textOf(await done)).toContain('{"amount":4}');
  });
});

it('an edit is shown without what the rules redact', async () => {
  const agent = await agentWith({
    ...defer([{ when: 'args.amount > 100', ...editable, approvers: [cy] }, editable]),
    guardrails: { enabled: true, redact: ['email'] },
  });
  const { done, deferral } = await parked(agent, { amount: 5, note: 'for eve@example.com' });
  await agent.decide('t1', approve(ann, { amount: 500, note: 'for mallory@example.com' }));
  const next = await heldAgain(agent, deferral);
  const { body } = await agent.get('/tasks/t1');
  expect(JSON.stringify([next.edits, body.metadata.edits])).not.toMatch(/eve@|mallory@/);
  await agent.post('/tasks/t1/cancel');
  await done;
});
