import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
// Loaded when first needed; what these packages leave on the process is theirs for its whole life.
import '../../src/cli/ui/agent-files.ts';
import '../../src/cli/ui/describe-agent.ts';
import { type Dashboard, serveDashboard } from '../../src/cli/ui/serve-dashboard.ts';
import { AgentClient } from './agent-client.ts';
import { temporaryFolder } from './test-system.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');

/** A dashboard that this process serves until the test has finished. */
export interface TestDashboard extends AgentClient {
  workspace: string;
  dashboard: Dashboard;
}

/** Serves the dashboard of a new workspace, once `prepare` has filled it. */
export async function openDashboard(
  prepare: (workspace: string) => void = () => undefined,
  { token = null }: { token?: string | null } = {},
): Promise<TestDashboard> {
  const workspace = realpathSync(temporaryFolder());
  prepare(workspace);
  const dashboard = await serveDashboard({
    ...{ directory: workspace, host: '127.0.0.1', port: 0, token, env: process.env },
    command: { file: process.execPath, args: [cli], env: process.env },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  onTestFinished(() => dashboard.close());
  const client = new AgentClient(`http://127.0.0.1:${dashboard.port}`, token);
  return Object.assign(client, { workspace, dashboard });
}
