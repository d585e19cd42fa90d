import { expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent } from '../helpers/test-agent.ts';

const command = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
};

const rule = { to: 'channel:console:*', timeout: '1h', edit: true };

it('a gate releases only the arguments that its approver changed', async () => {
  const agent = await startTestAgent({
    gate: { tools: { Bash: { schema: command } } },
    security: {
      guardrails: { enabled: true, deny_commands: [{ pattern: 'sudo' }] },
      defer: {
        enabled: true,
        tools: {
          Bash: [
            { when: 'args.command.startsWith("rm /")', ...rule, approvers: ['bo@example.com'] },
            rule,
          ],
        },
      },
    },
  } as ServiceSettings);
  const ask = (key: string) =>
    agent.post('/holds', { key, tool: 'Bash', args: { command: 'rm -rf build' } });
  const approve = async (key: string, args: object) => {
    const { hold_id: id } = (await ask(key)).body;
    return { id, ...(await agent.post(`/holds/${id}/decisions`, { decision: 'approve', args })) };
  };
  const edited = await approve('1', { command: 'rm -r build/tmp' });
  expect(edited.status).toBe(200);
  expect((await agent.get(`/holds/${edited.id}?wait=5`)).body).toMatchObject({
    ...{ status: 'approved', args: { command: 'rm -r build/tmp' } },
  });
  expect((await approve('2', { cmd: 'ls' })).status).toBe(400);
  const denied = await approve('3', { command: 'sudo rm -r build' });
  expect((await agent.get(`/holds/${denied.id}?wait=5`)).body).toMatchObject({ status: 'denied' });
  const other = await approve('4', { command: 'rm /etc/hosts' });
  await expect
    .poll(async () => (await agent.get(`/holds/${other.id}`)).body)
    .toMatchObject({ status: 'pending' });
  expect((await agent.get('/deferrals')).body.deferrals).toContainEqual(
    expect.objectContaining({ approvers: ['bo@example.com'], args: { command: 'rm /etc/hosts' } }),
  );
});
