import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../helpers/patient.ts';
import { PostgresServer, sharedPostgres } from '../helpers/postgres-server.ts';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function started(): Promise<PostgresServer> {
  const server = await PostgresServer.start();
  onTestFinished(() => server.remove());
  return server;
}

describe('a PostgreSQL of the tests', () => {
  it('answers in an empty database, and stops', async () => {
    const server = await started();
    const name = await server.createDatabase();
    const tables = `SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'`;
    expect(await server.query(tables, [], name)).toEqual([{ tables: 0 }]);
    const { pid } = server;
    await server.stop();
    expect(isAlive(pid)).toBe(false);
  });

  it('has its data when it is started again, also after a crash', async () => {
    const server = await started();
    await server.query('CREATE TABLE kept (value int)');
    await server.stop();
    await server.start();
    await server.query('INSERT INTO kept VALUES (1)');
    await server.stop('immediate');
    await server.start();
    expect(await server.query('SELECT value FROM kept')).toEqual([{ value: 1 }]);
  });

  it('is shared by all tests', async () => {
    const server = await sharedPostgres();
    expect(await sharedPostgres()).toBe(server);
    const [one, other] = [await server.createDatabase(), await server.createDatabase()];
    await server.dropDatabase(one);
    await server.dropDatabase(other);
    expect(one).not.toBe(other);
  });

  it('has a standby that follows it and can replace it', async () => {
    const server = await started();
    await server.query('CREATE TABLE told (value int)');
    const standby = await server.standby();
    onTestFinished(() => standby.remove());
    await server.query('INSERT INTO told VALUES (1)');
    const read = () => standby.query('SELECT value FROM told');
    await vi.waitFor(async () => expect(await read()).toEqual([{ value: 1 }]), patient);
    await expect(standby.query('INSERT INTO told VALUES (2)')).rejects.toMatchObject({
      code: '25006',
    });
    await standby.promote();
    await standby.query('INSERT INTO told VALUES (3)');
    expect(await read()).toEqual([{ value: 1 }, { value: 3 }]);
  });

  it('stops with the process that started it, and leaves nothing', async () => {
    const path = new URL('../helpers/postgres-process.ts', import.meta.url).pathname;
    const parent = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const { pid, folder } = JSON.parse(String(line)) as { pid: number; folder: string };
    expect([isAlive(pid), existsSync(folder)]).toEqual([true, true]);
    parent.kill('SIGKILL');
    const left = () => [isAlive(pid), existsSync(folder)];
    await vi.waitFor(() => expect(left()).toEqual([false, false]), patient);
  });
});
