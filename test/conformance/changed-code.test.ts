import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { deferring, startInFolder, type TestAgent, textOf } from '../helpers/test-agent.ts';

const text = 'what would run has changed since the approval was requested';

const settings = {
  ...deferring({}, { on_restart: 'resume' }),
  tools: [{ name: 'pay', idempotent: false }],
};

/** An agent whose call of `pay` waits, with some more files in its folder. */
async function held(files: Record<string, string> = {}): Promise<TestAgent> {
  const folder = new AgentFolder({ ...settings, egress: { writable: ['work'] } });
  onTestFinished(() => folder.remove());
  for (const [path, content] of Object.entries(files)) write(folder, path, content);
  const agent = await startInFolder(folder);
  agent.send('t1', [{ tool: 'pay', args: { amount: 5 } }]).catch(() => undefined);
  const task = await agent.reached('t1', 'deferred');
  expect(task.metadata.deferral.runs_sha256).toMatch(/^[0-9a-f]{64}$/);
  return agent;
}

function write(folder: AgentFolder, path: string, content: string): void {
  const place = join(folder.path, path);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, content);
}

const approval = { decision: 'approve', approver_email: 'ann@example.com' };

async function released(agent: TestAgent): Promise<[string, string[]]> {
  expect((await agent.decide('t1', approval)).status).toBe(200);
  const task = await agent.reached('t1', 'failed').catch(() => agent.reached('t1', 'completed'));
  return [textOf({ body: task }), agent.folder.paid];
}

const packages = { 'node_modules/money/index.js': 'export const round = Math.round;' };

describe('a call whose code is changed during its wait', () => {
  it.each<[string, string, Record<string, string>]>([
    ['its script', 'scripts/pay.sh', {}],
    ['a file next to its script', 'scripts/rates.json', { 'scripts/rates.json': '{}' }],
    ['a new file', 'scripts/lib/new.mjs', {}],
    ['code elsewhere in the folder', 'lib/helper.py', { 'lib/helper.py': 'pass' }],
    ['a package file', 'package.json', {}],
    ['a package', 'node_modules/money/index.js', packages],
  ])('is denied: %s', async (_, path, files) => {
    const agent = await held(files);
    write(agent.folder, path, 'changed');
    expect(await released(agent)).toEqual([text, []]);
    expect((await agent.get('/tasks/t1?include=decisions')).status).toBe(200);
  });

  it('is denied after a restart as well', async () => {
    const first = await held();
    await first.stop();
    write(first.folder, 'scripts/pay.sh', 'echo "$SERVICE_TOOL_CALL_ID" >> paid\necho other\n');
    expect(await released(await startInFolder(first.folder))).toEqual([text, []]);
  });

  it('is denied when a link has another target', async () => {
    const agent = await held({ 'data/a.sh': 'echo a', 'data/b.sh': 'echo b' });
    symlinkSync('../data/a.sh', join(agent.folder.path, 'scripts', 'used.sh'));
    expect(await released(agent)).toEqual([text, []]);
  });

  it('runs when only data changed, or the code was restored', async () => {
    const agent = await held({ 'work/plan.md': 'one', 'work/tool.py': 'pass' });
    write(agent.folder, 'work/plan.md', 'two');
    write(agent.folder, 'work/tool.py', 'changed');
    write(agent.folder, 'notes.txt', 'new');
    const script = join(agent.folder.path, 'scripts', 'pay.sh');
    const before = readFileSync(script);
    rmSync(script);
    writeFileSync(script, before);
    const [, paid] = await released(agent);
    expect(paid).toHaveLength(1);
  });

  it('is denied when it would use other credentials', async () => {
    const as = (account: string) => ({
      credentials: [
        { tool: 'pay', provider: 'static', spec: { env: { ACCOUNT: { from_env: account } } } },
      ],
    });
    const env = { TEST_ACCOUNT_A: 'a', TEST_ACCOUNT_B: 'b' };
    const folder = new AgentFolder({ ...settings, ...as('TEST_ACCOUNT_A') });
    onTestFinished(() => folder.remove());
    const first = await startInFolder(folder, env);
    first.send('t1', [{ tool: 'pay', args: { amount: 5 } }]).catch(() => undefined);
    await first.reached('t1', 'deferred');
    await first.stop();
    const file = join(folder.path, 'service.yaml');
    const service = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...service, ...as('TEST_ACCOUNT_B') }));
    expect(await released(await startInFolder(folder, env))).toEqual([text, []]);
  });
});
