import { compactVerify, createLocalJWKSet } from 'jose';
import { expect, it } from 'vitest';
import { deferring } from '../../helpers/test-agent.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

it('the receipt of a call is relayed as its agent signed it, and the refusals of the agent too', async () => {
  let signed!: WorkspaceAgent;
  let plain!: WorkspaceAgent;
  const page = await openDashboard((workspace) => {
    signed = new WorkspaceAgent(workspace, 'signed', { ...deferring(), audit: { sign: true } });
    plain = new WorkspaceAgent(workspace, 'plain', { audit: { sign: false } });
  });
  await Promise.all([signed.start(page), plain.start(page)]);
  const { answered } = await signed.hold(page, 't1');
  const [{ id: call }] = (await page.get('/api/deferrals')).body.deferrals;
  const path = `/api/agents/signed/tasks/t1/calls/${call}/receipt`;
  expect(await page.get(path)).toMatchObject({
    status: 409,
    body: {
      error: 'the call has not ended; ask for its receipt when it has',
      code: 'call_running',
    },
  });
  await page.post('/api/agents/signed/tasks/t1/decisions', { decision: 'approve' });
  await answered;
  const { status, headers, body } = await page.get(path);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/jose']);
  const { keys } = (await page.get('/api/agents/signed/audit?limit=1')).body;
  const { payload } = await compactVerify(String(body), createLocalJWKSet({ keys }));
  expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({
    ...{ task_id: 't1', call_id: call, ran: { outcome: 'succeeded' } },
  });
  expect((await page.get(path.replace(call, '..%2F..'))).status).toBe(404);
  expect((await page.get(path.replace('signed', 'plain'))).status).toBe(404);
  await plain.client.send('t1', [{ tool: 'datetime_now' }, { say: 'done' }]);
  expect(await page.get(path.replace('signed', 'plain'))).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('this agent does not sign its log') },
  });
}, 120_000);
