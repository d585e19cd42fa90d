import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { startInFolder, story, type TestAgent, textOf } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5, note: 'hello' } }, { say: 'paid {result}' }];
const to = 'channel:console:desk';
const [ann, bo, cy] = ['ann@example.com', 'bo@example.com', 'cy@example.com'];

const held = (rule: object = {}, layers: object = {}) => ({
  defer: { enabled: true, on_restart: 'resume', tools: { pay: { to, timeout: '5m', ...rule } } },
  ...layers,
});

/** Holds a call under some rules, and restarts the agent under others. */
async function restartedUnder(before: object, after: object): Promise<TestAgent> {
  const folder = new AgentFolder({ security: before });
  onTestFinished(() => folder.remove());
  const first = await startInFolder(folder);
  first.send('t1', pay).catch(() => undefined);
  await first.reached('t1', 'deferred');
  await first.stop();
  const path = join(folder.path, 'service.yaml');
  const service = { ...JSON.parse(readFileSync(path, 'utf8')), security: after };
  writeFileSync(path, JSON.stringify(service));
  return startInFolder(folder);
}

const unheld = { defer: { enabled: true, on_restart: 'resume', tools: { grant: { to } } } };
const guarded = (rules: object) => held({}, { guardrails: { enabled: true, ...rules } });

describe('a waiting call whose rules become stricter', () => {
  it.each([
    [
      'its tool is banned',
      guarded({ denied_tools: ['pay'] }),
      'denied by guardrail: pay is a denied tool',
    ],
    [
      'its arguments are banned',
      guarded({ deny_commands: [{ pattern: 'hello' }] }),
      'denied by guardrail: hello',
    ],
  ])('ends at the start of the agent when %s', async (_, after, text) => {
    const agent = await restartedUnder(held(), after);
    expect(textOf({ body: await agent.reached('t1', 'failed') })).toBe(text);
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(404);
    expect(agent.folder.paid).toEqual([]);
    expect(story(agent.audit('t1'))).toContainEqual([
      'task_deferred_abandoned',
      { tool: 'pay', reason: 'policy_changed' },
    ]);
  });

  it('is held again when a rule changes its arguments, and runs as shown then', async () => {
    const modify = { enabled: true, tools: { pay: { arguments: [{ path: 'amount', set: 1 }] } } };
    const agent = await restartedUnder(held(), held({}, { modify }));
    const task = await agent.reached('t1', 'deferred');
    expect(JSON.parse(task.metadata.deferral.context.split('args=')[1])).toEqual({
      amount: 1,
      note: 'hello',
    });
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    const done = await agent.reached('t1', 'completed');
    expect(textOf({ body: done })).toBe('paid {"amount":1,"note":"hello"}');
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('is decided by people on both lists', async () => {
    const agent = await restartedUnder(
      held({ approvers: [ann, bo] }),
      held({ approvers: [bo, cy] }),
    );
    const approve = (email: string) =>
      agent.decide('t1', { decision: 'approve', approver_email: email });
    expect([(await approve(ann)).status, (await approve(cy)).status]).toEqual([403, 403]);
    expect(agent.folder.paid).toEqual([]);
    expect((await approve(bo)).status).toBe(200);
    await agent.reached('t1', 'completed');
  });

  it('takes the larger quorum', async () => {
    const agent = await restartedUnder(held(), held({ approvers: [ann, bo], quorum: 2 }));
    const approve = (email: string) =>
      agent.decide('t1', { decision: 'approve', approver_email: email });
    expect((await approve(ann)).body).toMatchObject({ status: 'recorded' });
    expect((await approve(bo)).body).toMatchObject({ status: 'resolved' });
    await agent.reached('t1', 'completed');
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('keeps waiting when the rules become looser', async () => {
    const agent = await restartedUnder(held({ approvers: [ann] }), unheld);
    const approve = (email: string) =>
      agent.decide('t1', { decision: 'approve', approver_email: email });
    await agent.reached('t1', 'deferred');
    expect((await approve(bo)).status).toBe(403);
    expect((await approve(ann)).status).toBe(200);
    await agent.reached('t1', 'completed');
  });
});
