import type { ServiceSettings } from '../../helpers/agent-folder.ts';
import { startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';

const command = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
};

/** A gate that allows `ls`, asks the console for other commands and mail, and denies other tools. */
export const gateSettings = {
  gate: { tools: { Bash: { schema: command }, mail: {} } },
  security: {
    defer: {
      enabled: true,
      tools: {
        Bash: [
          { when: 'args.command.startsWith("ls")', allow: true },
          { to: 'channel:console:*', timeout: '1h', edit: true },
        ],
        mail: { to: 'channel:console:*' },
      },
    },
  },
} as ServiceSettings;

/** Starts a gate that is closed after the test. */
export function startGate(settings: object = {}): Promise<TestAgent> {
  return startTestAgent({ ...gateSettings, ...settings } as ServiceSettings);
}

/** Resolves with the id of the call that waits, once there is one. */
export async function waitingIn(agent: TestAgent): Promise<string> {
  const waiting = (await agent.get('/deferrals')).body.deferrals;
  if (waiting.length > 0) return waiting[0].task_id;
  await new Promise(setImmediate);
  return waitingIn(agent);
}

/** Decides on the call that waits, once there is one; resolves with its id. */
export async function decide(agent: TestAgent, decision: object): Promise<string> {
  const id = await waitingIn(agent);
  await agent.post(`/holds/${id}/decisions`, decision);
  return id;
}
