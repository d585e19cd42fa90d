import { generateKeyPairSync } from 'node:crypto';
import { cpSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestAgent } from '../../../packages/testing/testing.ts';
import { holding, paying } from '../../helpers/held-payments.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const refunds = join(import.meta.dirname, '../../../examples/refunds');

/** Settings of an agent whose callers sign in. */
const signedIn = {
  auth: {
    providers: [{ type: 'static_token', name: 'ops', settings: { token_env: 'SERVICE_TOKEN' } }],
  },
};
const env = { SERVICE_TOKEN: 'token-of-ops' };

/** The files of a folder with when each was changed. */
function filesIn(folder: string): [string, number][] {
  const files = globSync('**/*', { cwd: folder }).toSorted();
  return files.map((file) => [file, statSync(join(folder, file)).mtimeMs]);
}

describe('an agent under test', () => {
  it('identifies callers and approvers where they sign in, and none where they do not', async () => {
    const settings = { ...holding({ four_eyes: true }), ...signedIn };
    await using agent = await startTestAgent({ settings, tools: { pay: 'paid' }, env });
    const asked = await agent.send('pay', { ...paying, as: 'ann@example.com' });
    expect(asked.requester).toEqual({
      provider: 'ops',
      userId: 'ann@example.com',
      email: 'ann@example.com',
    });
    expect((await agent.decide(asked.id, 'approve', { as: 'ann@example.com' })).status).toBe(403);
    const by = { userId: '7', email: 'bob@example.com', acr: 'gold' };
    const claimed = { as: by, email: 'ann@example.com', note: 'n'.repeat(2_001) };
    expect((await agent.decide(asked.id, 'approve', claimed)).body).toEqual({
      error: 'note must be at most 2000 characters',
      code: 'invalid_body',
    });
    const operators = await agent.send('pay', paying);
    expect(operators.requester).toEqual({ provider: 'runtime', userId: 'runtime' });
    await using open = await startTestAgent({ settings: holding(), tools: { pay: 'paid' } });
    expect((await open.send('pay', { ...paying, as: 'ann@example.com' })).requester).toBeNull();
  });

  it('records the tenant of a caller, and signs, as configured', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const audit = { signing: { enabled: true }, rotation: { max_bytes: 65_536 } };
    await using agent = await startTestAgent({
      settings: { ...signedIn, audit },
      env: { ...env, SERVICE_AUDIT_SIGNING_KEY: key },
    });
    const as = { email: 'ann@example.com', orgId: 'o1', workspaceId: 'w1' };
    const { id } = await agent.send('hello', { as });
    expect(agent.events(id).map(({ org_id, workspace_id }) => [org_id, workspace_id])).toEqual([
      ['o1', 'w1'],
      ['o1', 'w1'],
      ['o1', 'w1'],
    ]);
    expect(await agent.verify()).toEqual({ ok: true, text: '4 events, chain intact, 4 signed' });
  });

  it('shows tasks to permitted callers', async () => {
    const settings = { ...holding(), ...signedIn, server: { task_access: 'requester' } };
    await using agent = await startTestAgent({ settings, tools: { pay: 'paid' }, env });
    await agent.send('pay', { ...paying, id: 't1', as: 'rita@example.com' });
    const seen = ['rita@example.com', 'ann@example.com', 'eve@example.com'].map(async (as) =>
      Boolean(await agent.task('t1', { as })),
    );
    expect(await Promise.all(seen)).toEqual([true, true, false]);
    expect((await agent.decide('t1', 'approve', { as: 'eve@example.com' })).status).toBe(404);
  });

  it('requires a step-up, scores calls and issues credentials as configured', async () => {
    const security = {
      step_up: { enabled: true, tools: { vault: { acr: 'gold' } } },
      intent_alignment: {
        enabled: true,
        provider: 'local',
        model: 'none',
        base_url: 'http://127.0.0.1:9',
      },
    };
    const credentials = [
      { tool: 'pay', provider: 'static', spec: { env: { KEY: { from_env: 'SHOP_KEY' } } } },
    ];
    await using agent = await startTestAgent({
      settings: { ...signedIn, security, credentials },
      tools: { pay: 'paid', vault: 'open', dig: 'dug' },
      env: { ...env, SHOP_KEY: 'k' },
      similarity: (_, call) => (call.startsWith('dig') ? 0.1 : 0.9),
    });
    const says = async (tool: string, as: object = {}) =>
      (await agent.send('x', { as, script: [{ tool }, { say: 'ok' }] })).text;
    expect(await says('vault')).toContain('step-up required for vault');
    expect(await says('vault', { email: 'ann@example.com', acr: 'gold' })).toBe('ok');
    expect(await says('dig')).toContain('denied by intent alignment');
    expect(await says('pay')).toBe('ok');
    expect(agent.events().map(({ event }) => event)).toContain('credential_issued');
  });

  it('checks the arguments of calls by the schemas of its tools', async () => {
    const parameters = {
      type: 'object',
      properties: { amount: { type: 'integer' } },
      required: ['amount'],
    };
    await using agent = await startTestAgent({
      settings: { builtin_tools: ['math_calculate'] },
      tools: {
        pay: { parameters, idempotent: true, run: 'paid' },
        math_calculate: '42',
      },
    });
    const calling = async (tool: string, args: object) =>
      (await agent.send('x', { script: [{ tool, args: args as never }, { say: '{result}' }] }))
        .text;
    expect(await calling('pay', { amount: 'five' })).toContain('amount');
    expect(await calling('pay', { amount: 5 })).toBe('paid');
    expect(await calling('math_calculate', { expression: '1' })).toBe('42');
    expect(agent.runs.map(({ tool }) => tool)).toEqual(['pay', 'math_calculate']);
  });

  it('can be the agent of a folder, in which nothing is run or written', async () => {
    const folder = join(temporaryFolder(), 'refunds');
    cpSync(refunds, folder, { recursive: true });
    const before = filesIn(folder);
    await using agent = await startTestAgent({
      folder,
      tools: { lookup_order: '{"amount": "89.90"}' },
    });
    const task = await agent.send('Refund A-1042');
    expect([task.state, task.deferral?.tool]).toEqual(['deferred', 'issue_refund']);
    await agent.decide(task.id, 'approve');
    expect((await agent.task(task.id))?.text).toBe('Your order is refunded. ok');
    expect(filesIn(folder)).toEqual(before);
  });

  it('can be the agent of a folder under another policy', async () => {
    await using agent = await startTestAgent({
      folder: refunds,
      settings: { security: { guardrails: { enabled: true, denied_tools: ['issue_refund'] } } },
    });
    expect((await agent.send('Refund A-1042')).text).toContain('denied by guardrail');
    expect(agent.runs.map(({ tool }) => tool)).toEqual(['lookup_order']);
  });

  it('replaces the tools of servers that are not called', async () => {
    const mcp = {
      servers: [{ name: 'docs', command: 'nowhere', tools: { allow: ['write_file'] } }],
    };
    const tools = { docs__write_file: { to: 'channel:console:*' } };
    await using agent = await startTestAgent({
      settings: { mcp, security: { defer: { enabled: true, tools } } },
      tools: { docs__write_file: 'written' },
    });
    const task = await agent.send('x', { script: [{ tool: 'docs__write_file' }] });
    await agent.decide(task.id, 'approve');
    expect(agent.runs.map(({ tool }) => tool)).toEqual(['docs__write_file']);
  });
});
