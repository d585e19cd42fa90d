import { join } from 'node:path';
import { cleanUp, holdpoint, refundAgent, startDaemon } from '../cli/holdpoint.ts';

const service = `agent_id: warm
model: {provider: scripted, script: [{say: done}]}
builtin_tools: [datetime_now]
egress: {sandbox: env}
`;

/** Runs one daemon and one command, so that the first tests do not all compile the same program at once. */
export async function setup(): Promise<void> {
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
