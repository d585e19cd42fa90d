import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { holdpoint } from '../../cli/holdpoint.ts';
import type { AgentFolder } from '../../helpers/agent-folder.ts';
import { deferring } from '../../helpers/test-agent.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

const canary = 'canary-5f2c9e';

/** The processes of this machine that check this folder. */
function checking(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words.includes('doctor') && words.includes(folder);
      } catch {
        return false;
      }
    });
}

it('doctor checks an agent as the command does, shows no secret, and refuses a third concurrent check', async () => {
  let folder!: AgentFolder;
  const dashboard = await openDashboard((workspace) => {
    const agent = new WorkspaceAgent(workspace, 'till', deferring());
    folder = agent.folder;
    mkdirSync(join(folder.path, '.service'), { recursive: true });
    writeFileSync(join(folder.path, '.service/.env'), `OPENAI_API_KEY=${canary}\n`, {
      mode: 0o644,
    });
  });
  const answers = await Promise.all([1, 2, 3].map(() => dashboard.get('/api/agents/till/doctor')));
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
    200, 200, 429,
  ]);
  const { body } = answers.find(({ status }) => status === 200)!;
  const { stdout } = await holdpoint(['--json', 'doctor', '--dir', folder.path]);
  const printed = JSON.parse(stdout);
  // Which ports and how much room there are may change from one to the other.
  const lasting = ({ checks }: { checks: { check: string }[] }) =>
    checks.filter(({ check }) => !['port', 'state'].includes(check));
  expect(lasting(body)).toEqual(lasting(printed));
  expect(body.checks.map(({ check }: any) => check)).toEqual(
    printed.checks.map(({ check }: any) => check),
  );
  expect(body.checks.find(({ check }: any) => check === 'permissions')).toMatchObject({
    ...{ status: 'fail', fix: `chmod 600 ${join(folder.path, '.service/.env')}` },
  });
  expect(body.error).toEqual(printed.error);
  expect(JSON.stringify(body)).not.toContain(canary);
}, 120_000);

it('doctor stops the checks when its caller disconnects', async () => {
  let folder!: AgentFolder;
  const dashboard = await openDashboard((workspace) => {
    folder = new WorkspaceAgent(workspace, 'till', deferring()).folder;
  });
  await dashboard.get('/api/agents');
  const left = new AbortController();
  const url = `http://127.0.0.1:${dashboard.dashboard.port}/api/agents/till/doctor`;
  const asked = fetch(url, { signal: left.signal }).catch((error: unknown) => error);
  await vi.waitUntil(() => checking(folder.path).length > 0, { timeout: 60_000, interval: 5 });
  left.abort();
  await asked;
  await vi.waitUntil(() => checking(folder.path).length === 0, { timeout: 60_000 });
}, 120_000);

it('doctor shows the figures of a running agent, and none for a stopped one', async () => {
  let agent!: WorkspaceAgent;
  const dashboard = await openDashboard((workspace) => {
    agent = new WorkspaceAgent(workspace, 'till', deferring());
  });
  expect(await dashboard.get('/api/agents/till/figures')).toMatchObject({ status: 400 });
  await agent.start(dashboard);
  await agent.client.send('t1', [{ say: 'Done.' }]);
  const { status, body } = await dashboard.get('/api/agents/till/figures');
  expect(status).toBe(200);
  expect(body.figures).toContainEqual({
    ...{ name: 'holdpoint_tasks', labels: { state: 'completed' }, value: 1 },
  });
  expect(await dashboard.get('/api/agents/none/doctor')).toMatchObject({ status: 404 });
}, 120_000);
