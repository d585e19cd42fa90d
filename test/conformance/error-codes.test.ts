import { beforeAll, describe, expect, it } from 'vitest';
import { agentErrorCodes, type ErrorCode, errorCodes } from '../../src/http/wire/error-codes.ts';
import { launchAgent, type TestAgent } from '../helpers/test-agent.ts';

describe('an error of an agent', () => {
  let agent: TestAgent;
  let gate: TestAgent;

  beforeAll(async () => {
    const command = { type: 'object', properties: { command: { type: 'string' } } };
    const rule = { to: 'channel:console:*', require_reason: 'both' };
    const defer = { enabled: true, tools: { Bash: rule } };
    agent = await launchAgent({});
    gate = await launchAgent({
      gate: { tools: { Bash: { schema: command } } },
      security: { defer },
    });
    await agent.send('done', [{ say: 'hello' }]);
    return async () => void (await Promise.all([agent.close(), gate.close()]));
  });

  it('has a code for each status in the description of the agent', async () => {
    const { paths } = (await agent.get('/openapi.json')).body as { paths: object };
    const statuses = Object.values(paths)
      .flatMap((item: object) => Object.values(item))
      .flatMap(({ responses }: { responses: object }) => Object.keys(responses).map(Number));
    const coded = new Set(agentErrorCodes.map((code) => errorCodes[code][0]));
    expect(statuses).toContain(409);
    expect(statuses.filter((status) => status >= 400 && !coded.has(status))).toEqual([]);
  });

  const asked = { key: 'k', tool: 'Bash', args: { command: 'ls' } };

  it.each<[ErrorCode, method: string, path: string, body?: unknown]>([
    ['not_found', 'GET', '/nothing'],
    ['method_not_allowed', 'PUT', '/tasks'],
    ['invalid_json', 'POST', '/tasks/send', '{'],
    ['invalid_body', 'POST', '/tasks/send', {}],
    ['invalid_query', 'GET', '/tasks?state=none'],
    ['invalid_cursor', 'GET', '/tasks?cursor=none'],
    ['task_not_found', 'GET', '/tasks/none'],
    ['task_not_found', 'POST', '/tasks/none/cancel'],
    ['task_not_found', 'GET', '/tasks/none/events'],
    ['inspection_off', 'GET', '/tasks/done/inspection'],
    ['task_not_found', 'GET', '/tasks/none/calls/c/receipt'],
    ['log_not_signed', 'GET', '/tasks/done/calls/c/receipt'],
    ['session_not_found', 'GET', '/sessions/none'],
    ['deferral_not_found', 'GET', '/deferrals/none'],
    ['deferral_not_found', 'POST', '/tasks/done/decisions', { decision: 'reject' }],
    ['invalid_body', 'POST', '/tasks/done/decisions', {}],
    ['invalid_body', 'POST', '/deferrals/decisions', {}],
    ['hold_not_found', 'GET', '/holds/none'],
    ['hold_not_found', 'DELETE', '/holds/none'],
    ['hold_not_found', 'POST', '/holds/none/outcome', { status: 'failed' }],
    ['invalid_query', 'GET', '/holds/none?wait=x'],
    ['grant_not_found', 'DELETE', '/grants/none'],
    ['delegation_not_found', 'DELETE', '/delegations/none'],
    ['daemon_token_required', 'POST', '/policy/reload'],
    ['unknown_coding_agent', 'POST', '/hooks/none', {}],
  ])('is %s at %s %s', async (code, method, path, body) => {
    const asked = /^\/ho(lds|oks)/.test(path) ? gate : agent;
    const answer = await asked.request(method, path, { body });
    const { error } = answer.body;
    expect({ error, status: answer.status, body: answer.body }).toEqual({
      ...{ error: expect.any(String), status: errorCodes[code][0] },
      body: { error, code },
    });
  });

  it('is unsupported_media_type for a string', async () => {
    const headers = { 'content-type': 'text/plain' };
    const { status, body } = await agent.post('/tasks/send', 'hello', headers);
    expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('is idempotency_key_reused and call_not_approved for a hold', async () => {
    const { body: hold } = await gate.post('/holds', asked);
    const other = await gate.post('/holds', { ...asked, args: { command: 'rm' } });
    const outcome = await gate.post(`/holds/${hold.hold_id}/outcome`, { status: 'succeeded' });
    expect([other.body.code, outcome.body.code]).toEqual([
      ...['idempotency_key_reused', 'call_not_approved'],
    ]);
  });

  it('is the code of the decision, also in a list', async () => {
    const { body: hold } = await gate.post('/holds', { ...asked, key: 'decided' });
    const path = `/holds/${hold.hold_id}/decisions`;
    const decide = async (more: object) => (await gate.post(path, more)).body.code ?? 'decided';
    const list = { decisions: [{ task_id: hold.hold_id, decision: 'approve' }] };
    expect([
      await decide({ decision: 'approve' }),
      await decide({ decision: 'approve', args_sha256: '0'.repeat(64) }),
      await decide({ decision: 'approve', deferral_id: 'other' }),
      await decide({ decision: 'approve', args: {}, note: 'why' }),
      (await gate.post('/deferrals/decisions', list)).body.decisions[0].body.code,
      await decide({ decision: 'approve', note: 'why' }),
      await decide({ decision: 'reject', note: 'why' }),
    ]).toEqual([
      ...['reason_required', 'arguments_differ', 'deferral_differs', 'not_editable'],
      ...['unpinned_approval', 'decided', 'already_decided'],
    ]);
  });

  it('has no code in the forms of A2A and JSON-RPC', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answers = [
      await agent.post('/v1/message:send', 'hello', headers),
      await agent.post('/a2a/message:send', 'hello', headers),
    ];
    for (const { body } of answers)
      expect(body.error).not.toHaveProperty('details.0.metadata.code');
    const { body } = await agent.post('/', 'hello', headers);
    expect(body.error).toEqual({ code: -32005, message: 'send the body as application/json' });
  });
});
