import { onTestFinished } from 'vitest';
import { AgentFolder, type ServiceSettings } from './agent-folder.ts';
import type { PostgresServer } from './postgres-server.ts';
import { launchAgent, type TestAgent } from './test-agent.ts';

/** Several daemons of one agent over one database, each with a folder of its own. */
export interface Replicas {
  a: TestAgent;
  b: TestAgent;
  c: TestAgent;
  /** The name of their database. */
  database: string;
  /** Starts one more. */
  join(): Promise<TestAgent>;
}

/** Starts three daemons of one agent over an empty database, at the port of `through`; all stop after the test. */
export async function startReplicas(
  server: PostgresServer,
  settings: ServiceSettings = {},
  through: { port: number } = server,
): Promise<Replicas> {
  const database = await server.createDatabase();
  const url = new URL(server.url(database));
  url.port = String(through.port);
  const env = { SERVICE_DATABASE_URL: url.href };
  const join = async (): Promise<TestAgent> => {
    const folder = new AgentFolder({ ...settings, store: { kind: 'postgres', ...settings.store } });
    const agent = await launchAgent({}, { folder, env });
    onTestFinished(() => agent.close());
    return agent;
  };
  return { a: await join(), b: await join(), c: await join(), database, join };
}
