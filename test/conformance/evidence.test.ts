import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import { verifyFiles } from '../../src/actors/records/log/audit.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { startGovernedAgent } from '../helpers/governed-agent.ts';
import { type AuditLine, deferring, launchAgent, startTestAgent } from '../helpers/test-agent.ts';

const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');
const callDigest = (tool: string, args: JsonObject) => sha256(canonicalize({ tool, args }) ?? '');
const hex = expect.stringMatching(/^[0-9a-f]{64}$/);

/** The fields of each event of a name. */
function fieldsOf(lines: AuditLine[], event: string): JsonObject[] {
  return lines
    .filter((line) => line.event === event)
    .map(({ fields }) => (fields ?? {}) as JsonObject);
}

function policyOf(lines: AuditLine[]): unknown {
  return fieldsOf(lines, 'policy_loaded')[0]?.['policy_sha256'];
}

const token = 'a-token-of-whoever-asks';
const auth = {
  required: true,
  providers: [{ type: 'static_token', name: 'ops', settings: { token } }],
};
const ops = { user_id: 'ops', provider: 'ops' };

describe('a held call in the log', () => {
  it('is named by every line, with its digest after MODIFY, its requester and its approver', async () => {
    const agent = await startGovernedAgent({
      auth,
      security: {
        modify: { enabled: true, tools: { pay: { arguments: [{ path: 'to', set: 'ann' }] } } },
        ...deferring().security,
      },
    });
    const client = agent.as(token);
    const args = { amount: 5, to: 'Maja' };
    const sent = client.send('t1', [{ tool: 'pay', args }, { say: 'done' }]);
    await expect
      .poll(async () => (await client.get('/tasks/t1')).body.status?.state, { timeout: 10_000 })
      .toBe('deferred');
    const id = (await client.get('/tasks/t1')).body.metadata.deferral.id;
    await client.decide('t1', { decision: 'approve', approver: 'ann' });
    await sent;
    const log = agent.audit();
    const lines = agent.audit('t1');
    const ruled = {
      call_id: id,
      args_sha256: callDigest('pay', { amount: 5, to: 'ann' }),
      policy_sha256: policyOf(log),
    };
    const held = { ...ruled, deferral_id: id, runs_sha256: hex };
    expect(fieldsOf(lines, 'session_start')).toEqual([ops]);
    expect(fieldsOf(lines, 'call_ruled')).toEqual([
      {
        ...{ ...ruled, tool: 'pay', decision: 'defer', layer: 'defer' },
        reason: 'awaiting channel:console:desk',
      },
    ]);
    expect(fieldsOf(lines, 'task_deferred')).toMatchObject([{ ...held, ...ops }]);
    expect(fieldsOf(lines, 'task_deferred_decision')).toMatchObject([
      { ...held, approver: 'ann', vouched_by: 'asserted', method: 'token', ...ops },
    ]);
    expect(fieldsOf(lines, 'tool_exec')).toMatchObject([
      { ...held, phase: 'start' },
      { ...held, phase: 'end', result_sha256: hex },
    ]);
  });

  it('is named by the line of a timeout, or of an abandoned wait', async () => {
    const agent = await startTestAgent(deferring({ timeout: '150ms' }));
    await agent.send('t1', [{ tool: 'pay' }, { say: 'done' }]);
    const [deferred] = fieldsOf(agent.audit('t1'), 'task_deferred');
    const { call_id, deferral_id, args_sha256, runs_sha256, policy_sha256 } = deferred ?? {};
    const named = { call_id, deferral_id, args_sha256, runs_sha256, policy_sha256 };
    expect(named).toEqual({
      ...{ call_id: expect.any(String), deferral_id: call_id, runs_sha256: hex },
      ...{ args_sha256: callDigest('pay', {}), policy_sha256: policyOf(agent.audit()) },
    });
    expect(fieldsOf(agent.audit('t1'), 'task_deferred_timeout')).toMatchObject([named]);
  });
});

describe('a call without an approval', () => {
  it('is ruled on once, and its run names it, without a deferral', async () => {
    const agent = await startTestAgent();
    await agent.send('t1', [{ tool: 'pay', args: { amount: 1 } }, { say: 'done' }]);
    const lines = agent.audit('t1');
    const call = {
      call_id: expect.any(String),
      args_sha256: callDigest('pay', { amount: 1 }),
      policy_sha256: policyOf(agent.audit()),
    };
    expect(fieldsOf(lines, 'call_ruled')).toEqual([
      {
        ...{ ...call, tool: 'pay', decision: 'allow', layer: 'defer' },
        reason: 'no approval is required',
      },
    ]);
    const [start, end] = fieldsOf(lines, 'tool_exec');
    expect(start).toEqual({ ...call, tool: 'pay', phase: 'start', args_size: 12 });
    expect(end).toMatchObject({ ...call, phase: 'end' });
    expect(end?.['call_id']).toBe(start?.['call_id']);
    expect(fieldsOf(lines, 'session_start')).toEqual([{}]);
  });
});

describe('an agent with audit.sign', () => {
  it('signs every line with its own key, which it keeps over a restart', async () => {
    const folder = new AgentFolder({ audit: { sign: true } });
    const before = await launchAgent({}, { folder });
    const { body, headers } = await before.get('/.well-known/audit-keys.json');
    expect(body).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: expect.any(String),
          kid: body.keys[0].kid,
          use: 'sig',
          alg: 'EdDSA',
        },
      ],
    });
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    const key = statSync(join(folder.path, '.service', 'audit-key.pem'));
    expect(key.mode & 0o777).toBe(0o600);
    await before.stop();
    const agent = await startTestAgent({}, { folder });
    await agent.send('t1', [{ say: 'hello' }]);
    expect((await agent.get('/.well-known/audit-keys.json')).body).toEqual(body);
    const lines = agent.audit();
    expect(new Set(lines.map(({ kid }) => kid))).toEqual(new Set([body.keys[0].kid]));
    expect(await verifyFiles([agent.auditPath], { keys: body, requireSigned: true })).toMatchObject(
      { ok: true, events: lines.length, signed: lines.length },
    );
  });
});
