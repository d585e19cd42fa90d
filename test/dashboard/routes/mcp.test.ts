import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { McpToolJson } from '../../../src/http/wire/dashboard/mcp-servers-json.ts';
import { patient } from '../../helpers/patient.ts';
import { readAudit } from '../../helpers/test-agent.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { startToolServer } from '../../helpers/tool-server.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

it('the servers of an agent are shown, and the shown version of a tool is accepted', async () => {
  const shop = await startToolServer(['refund']);
  let agent!: WorkspaceAgent;
  const token = 'token-of-the-dashboard';
  const dashboard = await openDashboard(
    (workspace) => {
      agent = new WorkspaceAgent(workspace, 'desk', {
        gate: {},
        server: { mcp: true },
        mcp: { servers: [{ name: 'shop', url: shop.url, tools: { deny: [] } }] },
      });
    },
    { token },
  );
  await agent.start(dashboard);
  const path = '/api/agents/desk/mcp';
  const toolsNow = async (): Promise<McpToolJson[]> => {
    const { body } = await dashboard.get(path);
    return body.servers?.[0].tools ?? [];
  };
  await vi.waitFor(async () => {
    expect(await toolsNow()).toMatchObject([{ name: 'refund', standing: 'accepted' }]);
  }, patient);
  // The next list has another tool.
  shop.tools = ['refund', 'pay'];
  await dashboard.post('/api/agents/desk/restart', {});
  await vi.waitFor(async () => expect(await toolsNow()).toHaveLength(2), patient);
  const pay = (await toolsNow()).find(({ name }) => name === 'pay');
  expect(pay).toMatchObject({
    ...{ standing: 'new', accepted: null },
    offered: { description: 'Does pay.', parameters: { type: 'object' } },
  });
  const accept = (body: object, as = dashboard) => as.post(`${path}/accept`, body);
  const sha256 = pay?.offered?.sha256 ?? '';
  const shown = { server: 'shop', tool: 'pay', sha256 };
  expect((await accept({ ...shown, sha256: 'a'.repeat(64) })).status).toBe(409);
  expect((await accept({ ...shown, server: 'crm' })).status).toBe(404);
  expect((await accept({ ...shown, sha256: '' })).status).toBe(400);
  const stranger = await fetch(`http://127.0.0.1:${dashboard.dashboard.port}${path}/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(shown),
  });
  expect(stranger.status).toBe(401);
  expect(await toolsNow()).toMatchObject([{}, { name: 'pay', standing: 'new' }]);
  expect(await accept(shown)).toMatchObject({ status: 200, body: shown });
  expect(await toolsNow()).toMatchObject([{}, { name: 'pay', standing: 'accepted' }]);
  const log = join(agent.folder.path, '.service/audit.ndjson');
  await vi.waitFor(() => {
    const accepted = readAudit(log).filter(({ event }) => event === 'mcp_tool_accepted');
    expect(accepted.map(({ fields }) => fields)).toEqual([
      { ...shown, by: expect.stringMatching(/\S/) },
    ]);
  }, patient);
});
