import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { knownVersion } from '../../../src/actors/records/postgres/known-schema.ts';
import { checkSharedStore } from '../../../src/cli/doctor/check-shared-store.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { PostgresServer } from '../../helpers/postgres-server.ts';
import { startReplicas } from '../../helpers/replicas.ts';
import { commandsOver } from '../../helpers/shared-folder.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

function look(url: string, agentId = 'till') {
  const address = {
    url: () => url,
    variable: 'SERVICE_DATABASE_URL',
    schema: 'holdpoint',
    agentId,
  };
  return checkSharedStore({ directory: '/srv/till', address, isChained: true });
}

describe('checkSharedStore', () => {
  it('accepts three running daemons', async () => {
    const { a, database } = await startReplicas(server);
    await a.send('t-1', [{ say: 'one' }]);
    const found = await look(server.url(database));
    const [{ lines }] = (await server.query(
      'SELECT count(*)::int AS lines FROM holdpoint.audit_lines',
      [],
      database,
    )) as [{ lines: number }];
    expect(found).toEqual([
      [
        'store',
        {
          status: 'pass',
          message: `the database answers; holdpoint has store version ${knownVersion}`,
        },
      ],
      ['tasks', { status: 'pass', message: 'every task can be continued by this release' }],
      ['daemons', { status: 'pass', message: '3 daemons are at work' }],
      ['audit', { status: 'pass', message: `${lines} events, chain intact, 0 signed` }],
      ['log', { status: 'pass', message: 'task store and audit log agree' }],
    ]);
  });

  it('reports the number of unknown daemons, tasks of other releases, and a cut log', async () => {
    const { a, b, c, database } = await startReplicas(server);
    await a.send('t-1', [{ say: 'one' }]);
    for (const agent of [a, b, c]) await agent.stop();
    await server.query(
      `BEGIN; UPDATE holdpoint.replicas SET gone_at = NULL;
        UPDATE holdpoint.tasks SET machine_version = 99, state = 'deferred';
        DELETE FROM holdpoint.audit_lines WHERE line = (SELECT events FROM holdpoint.audit_head); COMMIT`,
      [],
      database,
    );
    const found = new Map(await look(server.url(database)));
    expect(found.get('daemons')).toEqual({
      status: 'warn',
      message: '0 daemons are at work, and 3 are gone whose tasks are not resumed yet',
      fix: 'start a daemon, which resumes them',
    });
    expect(found.get('tasks')).toEqual({
      status: 'warn',
      message: '1 tasks were saved by another release and can only be continued by it',
      fix: 'start that release, and decide or cancel them',
    });
    expect(found.get('audit')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('the last line is not the one that the store knows'),
      fix: 'holdpoint audit verify --dir /srv/till',
    });
    expect(found.get('log')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(
        /^the audit log ends with line \d+ where the task store knows \d+ lines, /,
      ),
      fix: 'restore the database from a backup',
    });
  });

  it('distinguishes a database without tables, one of another agent, and a missing one', async () => {
    const database = await server.createDatabase();
    const url = server.url(database);
    expect(await look(url)).toEqual([
      [
        'store',
        {
          status: 'pass',
          message: 'the database answers, and the schema holdpoint has no tables yet',
        },
      ],
    ]);
    const folder = new AgentFolder({ store: { kind: 'postgres' } });
    onTestFinished(() => folder.remove());
    await commandsOver(url)('store', 'migrate', '--dir', folder.path);
    expect(await look(url, 'other')).toEqual([
      [
        'store',
        {
          status: 'fail',
          message: 'the schema holdpoint holds the tasks of agent till, not of other',
          fix: 'set store.schema to another name',
        },
      ],
    ]);
    expect(await look(server.url('nowhere', 'postgres', 'hush'))).toEqual([
      [
        'store',
        {
          status: 'fail',
          message: 'there is no database of the name that SERVICE_DATABASE_URL has',
          fix: 'create it on the server, or correct the name in SERVICE_DATABASE_URL',
        },
      ],
    ]);
  });

  it('is part of doctor, and prints no secret', async () => {
    const folder = new AgentFolder({ store: { kind: 'postgres' } });
    onTestFinished(() => folder.remove());
    const { code, stdout } = await commandsOver(server.url('nowhere', 'postgres', 'hush'))(
      ...['doctor', '--dir', folder.path, '--json'],
    );
    const { checks } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(checks.map(({ check }: { check: string }) => check)).toEqual(
      expect.arrayContaining(['store', 'state', 'daemon']),
    );
    expect(checks.find(({ check }: { check: string }) => check === 'store')).toMatchObject({
      status: 'fail',
    });
    expect(stdout).not.toMatch(/hush|nowhere/);
  });
});
