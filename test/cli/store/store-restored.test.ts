import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { PostgresServer } from '../../helpers/postgres-server.ts';
import { commandsOver } from '../../helpers/shared-folder.ts';
import { deferring, launchAgent, startInFolder } from '../../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const settings = { ...deferring({}, { on_restart: 'resume' }), store: { kind: 'postgres' } };

/** The folder of a stopped agent whose call waits, and its database as a dump brings it back. */
async function restored() {
  const database = await server.createDatabase();
  const url = server.url(database);
  const folder = new AgentFolder(settings);
  onTestFinished(() => folder.remove());
  const agent = await launchAgent({}, { folder, env: { SERVICE_DATABASE_URL: url } });
  void agent
    .send('order-1', [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }])
    .catch(() => undefined);
  await agent.reached('order-1', 'deferred');
  await agent.stop();
  await server.query('UPDATE holdpoint.store_info SET tables = $1', ['1/1'], database);
  return {
    folder,
    url,
    run: commandsOver(url),
    start: () => startInFolder(folder, { SERVICE_DATABASE_URL: url }),
  };
}

it('store restored lets an agent start over a restored database, and warns its approvers', async () => {
  const { folder, run, start } = await restored();
  await expect(start()).rejects.toThrow(
    'the tables of the schema holdpoint were restored or copied, so their calls may have run since; run holdpoint store restored',
  );
  const settled = await run('store', 'restored', '--dir', folder.path, '--json');
  expect(JSON.parse(settled.stdout)).toEqual({
    ...{ schema: 'holdpoint', moved: false, backup_at: expect.stringMatching(/^20.*Z$/) },
    ...{
      tasks_ended: 0,
      waiting: 1,
      holds_unaccounted: 0,
      grants_suspended: 0,
      push_targets_deleted: 0,
    },
  });
  const agent = await start();
  const { body } = await agent.get('/deferrals');
  expect(body.deferrals[0].context).toMatch(
    /^Restored from a backup of \S+: this call may have been decided since, so check before you approve\.\n/,
  );
  const decided = await agent.decide('order-1', { decision: 'approve', approver: 'ann' });
  expect(decided).toMatchObject({ status: 200 });
  await agent.reached('order-1', 'completed');
  expect(folder.paid).toHaveLength(1);
  const refused = await run('store', 'restored', '--dir', folder.path);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    'error: daemons use the schema holdpoint; stop all of them, then settle the restored tables\n',
  ]);
  await agent.stop();
  expect(await run('audit', 'verify', '--dir', folder.path)).toMatchObject({ code: 0 });
});

it('store restored changes nothing in a moved database', async () => {
  const { folder, run, start } = await restored();
  const settled = await run('store', 'restored', '--moved', '--dir', folder.path);
  expect(settled).toMatchObject({
    code: 0,
    stdout: 'the tables of holdpoint continue as they are\n',
  });
  const agent = await start();
  const { body } = await agent.get('/deferrals');
  expect(body.deferrals[0].context).not.toContain('Restored');
  await agent.stop();
});
