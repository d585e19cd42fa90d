import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { passkeyFault } from '../../src/actors/records/log/verify-passkeys.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import type { Answer } from '../helpers/agent-client.ts';
import { origin, park, script, signedIn, startDesk, token } from '../helpers/approvals-desk.ts';
import { patient } from '../helpers/patient.ts';
import { type PasskeyFault, SoftPasskey } from '../helpers/soft-passkey.ts';
import { reached, type TestAgent } from '../helpers/test-agent.ts';
import type { WebVisitor } from '../helpers/web-visitor.ts';

const approvers = ['ann@example.com', 'bob@example.com'];

/** A desk whose rule demands a passkey, which counts as soon as it is registered. */
function startPasskeyDesk(rule: object = {}, page: object = {}) {
  return startDesk({
    rule: { approvers, require_passkey: true, ...rule },
    page: { passkey_delay: '1ms', ...page },
    settings: { audit: { sign: true } },
  });
}

async function register(person: WebVisitor, name = 'Phone'): Promise<SoftPasskey> {
  const key = new SoftPasskey(origin);
  const { body } = await person.api('passkeys/questions', {});
  const response = key.register(body.options);
  expect((await person.api('passkeys', { name, nonce: body.nonce, response })).status).toBe(201);
  return key;
}

/** Decides with the answer of a passkey to a question, each of which can be about something else. */
async function confirmed(
  person: WebVisitor,
  key: SoftPasskey,
  decision: object,
  { asked = decision, fault = {} }: { asked?: object; fault?: PasskeyFault } = {},
): Promise<{ answer: Answer; sent: object }> {
  const { body } = await person.api('tasks/t1/questions', asked);
  const passkey = { nonce: body.nonce, response: key.confirm(body.options, fault) };
  const sent = { ...decision, passkey };
  return { answer: await person.api('tasks/t1/decisions', sent), sent };
}

async function receiptOf(agent: TestAgent, call: string): Promise<JsonObject> {
  const { body } = await agent.as(agent.token).get(`/tasks/t1/calls/${call}/receipt`);
  const [, claims = ''] = String(body).split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

function decisionLines(agent: TestAgent) {
  return agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
}

const approve = { decision: 'approve' };
const noPasskey = {
  error: 'this call needs a passkey; approve it on the approvals page',
  code: 'passkey_required',
};

describe('a rule with require_passkey', () => {
  it('refuses an approval by every other way, and accepts a rejection', async () => {
    const { agent, ...desk } = await startPasskeyDesk();
    const { answer, call, pinned } = await park(agent);
    const ann = await signedIn({ agent, ...desk });
    const refused = { status: 403, body: noPasskey };
    expect(await ann.api('tasks/t1/decisions', { ...approve, ...pinned })).toMatchObject(refused);
    const listed = { decisions: [{ task_id: 't1', ...approve, ...pinned }] };
    expect((await ann.api('deferrals/decisions', listed)).body.decisions).toMatchObject([refused]);
    const direct = { ...approve, approver_email: 'ann@example.com' };
    expect(await agent.as(agent.token).decide('t1', direct)).toMatchObject(refused);
    const forged = { ...direct, passkey: { confirmed: true }, signedInAt: 'page' };
    expect(await agent.as(agent.token).decide('t1', forged)).toMatchObject(refused);
    expect((await ann.api(`deferrals/${call}`)).body.require_passkey).toBe(true);
    const reject = { decision: 'reject', ...pinned, note: 'no' };
    expect((await ann.api('tasks/t1/decisions', reject)).status).toBe(200);
    expect((await answer).body.status.state).not.toBe('completed');
    expect(agent.folder.paid).toEqual([]);
  });

  it('accepts an approval with a passkey, whose receipt verifies offline, and with no changed member', async () => {
    const { agent, ...desk } = await startPasskeyDesk();
    const { answer, call, pinned } = await park(agent);
    const ann = await signedIn({ agent, ...desk });
    const key = await register(ann);
    const { answer: decided, sent } = await confirmed(ann, key, { ...approve, ...pinned });
    expect(decided).toMatchObject({ status: 200, body: { approver: 'ann@example.com' } });
    expect((await answer).body.status.state).toBe('completed');
    expect((await ann.api('tasks/t1/decisions', sent)).status).not.toBe(200);
    const claims = await receiptOf(agent, call);
    expect(claims['decisions']).toMatchObject([
      { decision: 'approve', method: 'oidc', passkey: { credential_id: key.id, origin } },
    ]);
    expect(await passkeyFault(claims)).toBeNull();
    const changes: ((one: any) => void)[] = [
      (one) => (one.deferral_id = 'another'),
      (one) => (one.decisions[0].decision = 'reject'),
      (one) => (one.decisions[0].args_sha256 = '0'.repeat(64)),
      (one) => (one.decisions[0].edited_args_sha256 = '0'.repeat(64)),
      (one) => (one.decisions[0].passkey.nonce = 'another'),
      (one) => (one.decisions[0].passkey.origin = 'https://evil.example.com'),
      (one) => (one.decisions[0].passkey.rp_id = 'example.com'),
      (one) => (one.decisions[0].passkey.signature = 'AAAA'),
      (one) => (one.decisions[0].passkey = {}),
    ];
    for (const change of changes) {
      const changed = structuredClone(claims);
      change(changed);
      expect(await passkeyFault(changed)).toMatch(/^the passkey of "ann@example.com" has not/);
    }
  });

  it('accepts no answer twice, nor for another decision, call, person, session or origin', async () => {
    const { agent, ...desk } = await startPasskeyDesk({ edit: true });
    const { pinned } = await park(agent);
    const ann = await signedIn({ agent, ...desk });
    const bob = await signedIn({ agent, ...desk }, 'bob');
    const [key, other] = [await register(ann), await register(bob)];
    const decision = { ...approve, ...pinned };
    const notAsked = {
      error:
        'the passkey answers no open question about this decision, so nothing was decided; try again',
      code: 'passkey_refused',
    };
    const failed = { error: 'the passkey did not confirm this decision; try again' };
    const reject = { decision: 'reject', ...pinned, note: 'no' };
    const attempts: [Parameters<typeof confirmed>[3], SoftPasskey, object][] = [
      [{ asked: reject }, key, notAsked],
      [{ asked: { ...decision, args: { amount: 4 } } }, key, notAsked],
      [{}, other, { error: 'this passkey is not one of yours; use another' }],
      [{ fault: { origin: 'https://evil.example.com' } }, key, failed],
      [{ fault: { rpId: 'evil.example.com' } }, key, failed],
      [{ fault: { type: 'webauthn.create' } }, key, failed],
      [{ fault: { challenge: 'AAAA' } }, key, failed],
      [{ fault: { flags: 0x01 } }, key, failed],
      [{ fault: { flags: 0x04 } }, key, failed],
    ];
    for (const [deviation, by, error] of attempts) {
      const { answer, sent } = await confirmed(ann, by, decision, deviation);
      const body = { ...error, code: 'passkey_refused' };
      expect({ status: answer.status, body: answer.body }).toEqual({ status: 403, body });
      const again = await ann.api('tasks/t1/decisions', sent);
      expect({ status: again.status, body: again.body }).toEqual({ status: 403, body: notAsked });
    }
    const { body } = await ann.api('tasks/t1/questions', decision);
    const passkey = { nonce: body.nonce, response: other.confirm(body.options) };
    const stolen = await bob.api('tasks/t1/decisions', { ...decision, passkey });
    expect(stolen).toMatchObject({ status: 403, body: notAsked });
    expect(decisionLines(agent)).toEqual([]);
    expect(agent.folder.paid).toEqual([]);
  });

  it('confirms changed arguments with the digest of the change', async () => {
    const { agent, ...desk } = await startPasskeyDesk({ edit: true });
    const { answer, call, pinned } = await park(agent);
    const ann = await signedIn({ agent, ...desk });
    const key = await register(ann);
    const decision = { ...approve, ...pinned, args: { amount: 4 } };
    expect((await confirmed(ann, key, decision)).answer.status).toBe(200);
    expect((await answer).body.status.state).toBe('completed');
    expect(agent.folder.paid).toHaveLength(1);
    const claims = await receiptOf(agent, call);
    expect(claims['decisions']).toMatchObject([{ edited_args_sha256: expect.any(String) }]);
    expect(await passkeyFault(claims)).toBeNull();
  });

  it('counts an approval of a quorum only with a passkey', async () => {
    const { agent, ...desk } = await startPasskeyDesk({ quorum: 2 });
    const { answer, pinned } = await park(agent);
    const ann = await signedIn({ agent, ...desk });
    const decision = { ...approve, ...pinned };
    const first = await confirmed(ann, await register(ann), decision);
    expect(first.answer.body.status).toBe('recorded');
    const bob = await signedIn({ agent, ...desk }, 'bob');
    expect((await bob.api('tasks/t1/decisions', decision)).body).toEqual(noPasskey);
    const second = await confirmed(bob, await register(bob), decision);
    expect(second.answer.body.status).toBe('resolved');
    expect((await answer).body.status.state).toBe('completed');
  });
});

describe('the passkeys of a person', () => {
  it('are several, with names, are in the log, and count after the delay', async () => {
    const { agent, ...desk } = await startPasskeyDesk({}, { passkey_delay: '1h' });
    const { pinned } = await park(agent);
    const ann = await signedIn({ agent, ...desk });
    const none = await ann.api('tasks/t1/questions', { ...approve, ...pinned });
    expect(none.body.error).toBe('you have no passkey; add one on the approvals page');
    const [phone, laptop] = [await register(ann, 'Phone'), await register(ann, 'Laptop')];
    const { body } = await ann.api('passkeys');
    expect(body.passkeys).toMatchObject([
      { id: phone.id, name: 'Phone', used_at: null },
      { id: laptop.id, name: 'Laptop' },
    ]);
    const early = await ann.api('tasks/t1/questions', { ...approve, ...pinned });
    expect(early.body.error).toBe(
      `your passkey is new and counts from ${body.passkeys[0].counts_from}`,
    );
    const bob = await signedIn({ agent, ...desk }, 'bob');
    expect((await bob.api('passkeys')).body).toEqual({ passkeys: [] });
    expect((await bob.api(`passkeys/${phone.id}/removal`, {})).status).toBe(404);
    expect((await ann.api(`passkeys/${phone.id}/removal`, {})).status).toBe(204);
    expect((await ann.api('passkeys')).body.passkeys).toMatchObject([{ id: laptop.id }]);
    const lines = agent.audit().filter(({ event }) => event.startsWith('passkey_'));
    expect(lines.map(({ event, fields }) => [event, fields?.['name'], fields?.['email']])).toEqual([
      ['passkey_added', 'Phone', 'ann@example.com'],
      ['passkey_added', 'Laptop', 'ann@example.com'],
      ['passkey_removed', 'Phone', 'ann@example.com'],
    ]);
  });

  it('are not registered for another origin, twice with one answer, or without a token of the session', async () => {
    const { agent, ...desk } = await startPasskeyDesk();
    const ann = await signedIn({ agent, ...desk });
    const key = new SoftPasskey(origin);
    const ask = async () => (await ann.api('passkeys/questions', {})).body;
    for (const fault of [{ origin: 'https://evil.example.com' }, { rpId: 'x' }, { flags: 0x41 }]) {
      const { nonce, options } = await ask();
      const body = { name: 'Phone', nonce, response: key.register(options, fault) };
      expect((await ann.api('passkeys', body)).status).toBe(403);
    }
    const { nonce, options } = await ask();
    const body = { name: 'Phone', nonce, response: key.register(options) };
    expect((await ann.api('passkeys', body, { 'x-holdpoint-csrf': 'x' })).status).toBe(403);
    expect((await ann.api('passkeys', body)).status).toBe(201);
    expect((await ann.api('passkeys', body)).status).toBe(403);
    const bob = await signedIn({ agent, ...desk }, 'bob');
    const his = (await bob.api('passkeys/questions', {})).body;
    const taken = { name: 'Mine', nonce: his.nonce, response: key.register(his.options) };
    expect((await bob.api('passkeys', taken)).body.error).toBe('this passkey is in use already');
  });

  it('are needed for a call that waited when the rule began to require them', async () => {
    const { agent, ...desk } = await startDesk({
      rule: { approvers, quorum: 2 },
      page: { passkey_delay: '1ms' },
    });
    const caller = agent.as(token);
    const answer = caller.send('t1', script);
    const { metadata } = await reached(caller, 't1', 'deferred');
    const { id: deferral_id, args_sha256 } = metadata.deferral;
    const decision = { ...approve, deferral_id, args_sha256 };
    const ann = await signedIn({ agent, ...desk });
    expect((await ann.api('tasks/t1/decisions', decision)).body.status).toBe('recorded');
    const file = join(agent.folder.path, 'service.yaml');
    const service = readFileSync(file, 'utf8');
    writeFileSync(file, service.replace('"quorum": 2', '"quorum": 1, "require_passkey": true'));
    const loaded = () => agent.audit().filter(({ event }) => event === 'policy_loaded').length;
    await vi.waitUntil(() => loaded() > 1, patient);
    expect((await ann.api('tasks/t1/decisions', decision)).body).toEqual(noPasskey);
    const key = await register(ann);
    const once = await confirmed(ann, key, decision);
    // The stored quorum counts, and the approval without a passkey no longer does.
    expect(once.answer.body.status).toBe('recorded');
    const bob = await signedIn({ agent, ...desk }, 'bob');
    const last = await confirmed(bob, await register(bob), decision);
    expect(last.answer.body.status).toBe('resolved');
    expect((await answer).body.status.state).toBe('completed');
  });
});
