import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, holdpoint, refundAgent, startDaemon } from '../cli/holdpoint.ts';
import { compileCache } from '../helpers/real-command.ts';
import { bundleOnce } from './bundle-once.ts';

const service = `agent_id: warm
model: {provider: scripted, script: [{say: done}]}
builtin_tools: [datetime_now]
egress: {sandbox: env}
`;

/**
 * Has tests start the bundle of the sources as they are. Runs one daemon and two commands of a new one, so that the first
 * tests do not all compile the same program at once.
 */
export async function setup(): Promise<void> {
  process.env['HOLDPOINT_TEST_COMMAND'] = await bundleOnce();
  if (existsSync(compileCache())) return;
  try {
    const directory = await refundAgent(service);
    const env = { XDG_STATE_HOME: join(directory, 'state') };
    const daemon = await startDaemon(directory, { env });
    await holdpoint(['task', 'send', 'hello', '--dir', directory], { env });
    await daemon.stop();
    await holdpoint(['policy', 'explain', 'issue_refund', '--dir', directory], { env });
  } finally {
    await cleanUp();
  }
}
