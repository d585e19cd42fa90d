import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import {
  deferring,
  startInFolder,
  startTestAgent,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';
import { openDashboard, type TestDashboard } from '../helpers/test-dashboard.ts';
import { asking } from './egress-agent.ts';

/** How loopback is spelled by who wants to get around a filter. */
const spellings = ['127.0.0.1', '2130706433', 'localhost', '0.0.0.0', '[::1]', '[::ffff:7f00:1]'];

const closed = 'is a dashboard or another agent of the same workspace';

/** Settings that open all of loopback. */
const openings: [name: string, egress: object][] = [
  ['dev-open', { mode: 'dev-open' }],
  ['allowed_private', { allowed_private: ['127.0.0.1', 'localhost', '[::1]'] }],
];

const script = {
  'ask.sh': `url=$(printf '%s' "$1" | sed 's/.*"url":"//;s/".*//')\ncurl -sg -m 10 -X POST -H 'Content-Type: application/json' -d '{}' "$url"\n`,
};

let workspace: string;
let page: TestDashboard;

/** Starts an agent in a folder of the workspace. */
async function startIn(name: string, egress: object): Promise<TestAgent> {
  mkdirSync(join(workspace, name));
  const settings = { ...deferring(), agent_id: name, builtin_tools: ['http_request'], egress };
  const folder = new AgentFolder(settings, join(workspace, name));
  writeFileSync(join(folder.path, 'scripts/ask.sh'), script['ask.sh']);
  writeFileSync(
    join(folder.path, 'SKILL.md'),
    '---\nname: outward\ndescription: Reaches out.\n---\n## Tool: ask\n\nAsks.\n\n**Input:** url (string)\n\n## Tool: pay\n\nPays.\n',
  );
  onTestFinished(() => folder.leaveGate());
  return startInFolder(folder);
}

beforeEach(async () => {
  page = await openDashboard((made) => void (workspace = made), { isNoted: true });
});

describe.each(openings)('with %s', (_, egress) => {
  it('the dashboard is unreachable for tools and scripts, and as a push receiver', async () => {
    const agent = await startIn('till', egress);
    await page.dashboard.workspace.rescan();
    void agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]).catch(() => undefined);
    await agent.reached('held', 'deferred');
    const { port } = page.dashboard;
    for (const [at, host] of spellings.entries()) {
      const url = `http://${host}:${port}/api/agents/till/tasks/held/decisions`;
      const json = { decision: 'approve' };
      const byTool = await agent.send(`t${at}`, asking(url, { method: 'POST', json }));
      expect(textOf(byTool)).toMatch(refusal(host, egress));
      const byScript = await agent.send(`s${at}`, [
        { tool: 'ask', args: { url } },
        { say: '{result}' },
      ]);
      expect(textOf(byScript)).toMatch(refusal(host, egress));
      const { body } = await agent.rpc('tasks/pushNotificationConfig/set', {
        taskId: 'held',
        pushNotificationConfig: {
          id: 'mine',
          url: `http://${host}:${port}/api/agents/till/restart`,
        },
      });
      expect(body.error.message).toMatch(refusal(host, egress));
    }
    expect((await agent.get('/tasks/held')).body.status.state).toBe('deferred');
  });

  it('another agent of the workspace is unreachable, one elsewhere is reachable', async () => {
    const agent = await startIn('till', egress);
    const other = await startIn('desk', {});
    const url = `http://127.0.0.1:${new URL(other.url).port}/healthz`;
    expect(textOf(await agent.send('t1', asking(url)))).toBe(`egress blocked: 127.0.0.1 ${closed}`);
    const far = await startTestAgent();
    const outside = `http://127.0.0.1:${new URL(far.url).port}/healthz`;
    expect(textOf(await agent.send('t2', asking(outside)))).toContain('"status":200');
  });
});

function refusal(host: string, { mode }: { mode?: string }): RegExp {
  const isOpen =
    mode === 'dev-open' || ['127.0.0.1', '2130706433', 'localhost', '[::1]'].includes(host);
  return isOpen ? new RegExp(`egress blocked: \\S+ ${closed}`) : /egress blocked: /;
}
