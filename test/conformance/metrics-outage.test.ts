import { expect, it, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { TcpSwitch } from '../helpers/tcp-switch.ts';
import { launchAgent } from '../helpers/test-agent.ts';

it('a scrape is answered while the database is unreachable, without its values', async () => {
  const server = await PostgresServer.start();
  const through = await TcpSwitch.open(server.port);
  const url = new URL(server.url(await server.createDatabase()));
  url.port = String(through.port);
  const folder = new AgentFolder({ store: { kind: 'postgres' } });
  const agent = await launchAgent({}, { folder, env: { SERVICE_DATABASE_URL: url.href } });
  const scrape = async () => {
    const { status, body } = await agent.get('/metrics');
    const lines = String(body).split('\n');
    return { status, values: lines.filter((line) => /^holdpoint_(tasks\{|store_writ)/.test(line)) };
  };
  try {
    expect((await scrape()).values).toHaveLength(7);
    // A port on which nothing listens.
    through.leadTo(9);
    await vi.waitFor(async () => {
      expect(await scrape()).toEqual({ status: 200, values: ['holdpoint_store_writable 0'] });
    }, patient);
    through.leadTo(server.port);
    await vi.waitFor(async () => expect((await scrape()).values).toHaveLength(7), patient);
  } finally {
    await agent.close();
    await through.close();
    await server.remove();
  }
}, 60_000);
