import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FixtureMatch, LLMock } from '@copilotkit/aimock';
import { afterAll, describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { cleanUp, type Daemon, holdpoint, refundAgent, startDaemon } from '../../cli/holdpoint.ts';
import { AgentClient, saying } from '../../helpers/agent-client.ts';
import { canaryKey, keys, startModelServer, wireNames, wires } from '../../helpers/model-server.ts';
import { reached, readAudit, story, textOf } from '../../helpers/test-agent.ts';

afterAll(cleanUp);

const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  input_tokens: 11,
  output_tokens: 7,
  promptTokenCount: 11,
  candidatesTokenCount: 7,
};

const refund = { order_id: 'A-1042', amount: 89.9, reason: 'arrived broken' };

/** A model that looks up the order, requests the refund after it has read it, and reports the end. */
function answers(mock: LLMock): void {
  const call = (name: string, args: object) => ({
    toolCalls: [{ name, arguments: JSON.stringify(args) }],
    usage,
  });
  const read = (text: string): FixtureMatch => ({
    userMessage: 'Refund A-1042',
    toolResultContains: text,
  });
  mock.on(read('refund_id'), { content: 'The 89.90 EUR are on their way.', usage });
  mock.on(read('Desk lamp, brass'), call('issue_refund', refund));
  mock.on(
    { userMessage: 'Refund A-1042', hasToolResult: false },
    call('lookup_order', { order_id: 'A-1042' }),
  );
}

/** The unchanged example, with this model and a person who may decide. */
async function refundsWith(model: object): Promise<string> {
  const directory = await refundAgent();
  const path = join(directory, 'service.yaml');
  const service = parseDocument(await readFile(path, 'utf8'));
  service.set('model', service.createNode(model));
  const rule = ['security', 'defer', 'tools', 'issue_refund', 1];
  service.setIn([...rule, 'approvers'], service.createNode(['ann@example.com']));
  await writeFile(path, String(service));
  return directory;
}

/** The daemon has said nothing of the key anywhere. */
async function expectNoKey(daemon: Daemon, ...said: unknown[]): Promise<void> {
  const { stdout, stderr } = await daemon.stop();
  expect(JSON.stringify([...said, stdout, stderr])).not.toContain(canaryKey);
}

describe.each(wireNames)('the refund agent with a model on the wire of %s', (wire) => {
  it('pays once the approver has released the call, and the log is complete', async () => {
    const mock = await startModelServer();
    answers(mock);
    const model = { name: 'some-model', ...wires[wire](mock.url) };
    const directory = await refundsWith(model);
    const orders = () => readFile(join(directory, 'data/orders.csv'), 'utf8');
    const untouched = await orders();
    const daemon = await startDaemon(directory, { env: keys });
    const caller = new AgentClient(daemon.url, null);

    const sent = caller.post('/tasks/send', {
      task: { id: 'r1', message: saying('Refund A-1042, it arrived broken') },
    });
    const held = await reached(caller, 'r1', 'deferred');
    expect(held.metadata.deferral).toMatchObject({
      tool: 'issue_refund',
      context: 'issue_refund wants to pay back money: order A-1042',
    });
    expect(await orders()).toBe(untouched);

    const stranger = await caller.decide('r1', {
      decision: 'approve',
      approver_email: 'eve@example.com',
    });
    expect(stranger.status).toBe(403);
    expect(await orders()).toBe(untouched);
    const decided = await caller.decide('r1', {
      decision: 'approve',
      approver_email: 'ann@example.com',
    });
    expect(decided.status).toBe(200);
    const answer = await sent;

    expect(answer.body.status.state).toBe('completed');
    expect(textOf(answer)).toBe('The 89.90 EUR are on their way.');
    const header = (name: string) => answer.headers.get(`X-Service-${name}`);
    expect(['Tokens-In', 'Tokens-Out', 'Model'].map(header)).toEqual(['33', '21', 'some-model']);
    expect(header('Duration-Ms')).toMatch(/^\d+$/);
    const before = new Set(untouched.split('\n'));
    expect((await orders()).split('\n').filter((line) => !before.has(line))).toEqual([
      expect.stringMatching(/^A-1042,.*,refunded,R-\w+,89\.90,arrived broken,/),
    ]);

    const log = join(directory, '.service/audit.ndjson');
    const lines = readAudit(log, 'r1');
    const thought = { provider: model.provider, model: 'some-model' };
    // The mock of this wire gives no reason.
    const reason = wire === 'openai responses' ? {} : { finish_reason: expect.any(String) };
    const called = ['llm_call', { ...thought, input_tokens: 11, output_tokens: 7, ...reason }];
    const ran = (tool: string) => [
      ['tool_exec', { tool, phase: 'start' }],
      ['tool_exec', { tool, phase: 'end', outcome: 'succeeded' }],
    ];
    const decision = (approver: string, more: object) => [
      'task_deferred_decision',
      expect.objectContaining({ tool: 'issue_refund', decision: 'approve', approver, ...more }),
    ];
    expect(story(lines)).toEqual([
      ['session_start'],
      called,
      ...ran('lookup_order'),
      called,
      ['task_deferred', expect.objectContaining({ tool: 'issue_refund' })],
      decision('eve@example.com', { authorized: false }),
      decision('ann@example.com', { vouched_by: 'asserted' }),
      ...ran('issue_refund'),
      called,
      ['session_end', { state: 'completed' }],
    ]);
    expect(await holdpoint(['audit', 'verify', log])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('chain intact'),
    });
    await expectNoKey(daemon, answer.body, await readFile(log, 'utf8'));
  });
});
