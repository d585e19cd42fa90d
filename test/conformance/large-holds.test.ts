import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const kib = 1_024;
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(2_300).slice(0, 100 * kib);
const args = { path: 'a.txt', text };

const gate = { tools: { Write: {} }, outcome_within: '2h' };
const security = {
  defer: {
    enabled: true,
    tools: { Write: { to: ['channel:console:*', 'channel:dashboard:*'], edit: true } },
  },
};

/** Bytes of all values of an agent's tasks and their parts. */
function storedBytes(agent: TestAgent): number {
  const database = new DatabaseSync(join(agent.folder.path, '.service/tasks.db'), {
    readOnly: true,
  });
  try {
    return ['tasks', 'task_values', 'approval_notices', 'task_states']
      .flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all())
      .flatMap((row) => Object.values(row))
      .reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')), 0);
  } finally {
    database.close();
  }
}

it.runIf(process.env['HOLDPOINT_TEST_STORE'] !== 'postgres')(
  'stores 100 KiB of arguments once while a call waits, and after it ran',
  async () => {
    const agent = await startTestAgent({ gate, security } as ServiceSettings);
    const { body: hold } = await agent.post('/holds', { key: 'k-1', tool: 'Write', args });
    const { body: listed } = await agent.get('/deferrals');
    const [{ args: waiting, context }] = listed.deferrals;
    // A difference of such texts is of no use in a report.
    expect(isDeepStrictEqual(waiting, args)).toBe(true);
    expect(context === `tool=Write args=${JSON.stringify(args)}`).toBe(true);
    const sizes = [storedBytes(agent)];
    await agent.post(`/holds/${hold.hold_id}/decisions`, { decision: 'approve' });
    sizes.push(storedBytes(agent));
    const { body: allowed } = await agent.get(`/holds/${hold.hold_id}?wait=5`);
    expect([allowed.status, isDeepStrictEqual(allowed.args, args)]).toEqual(['approved', true]);
    await agent.post(`/holds/${hold.hold_id}/outcome`, { status: 'succeeded' });
    sizes.push(storedBytes(agent));
    expect(Math.max(...sizes)).toBeLessThan(150 * kib);
    const { body: task } = await agent.get(`/tasks/${hold.hold_id}`);
    expect(isDeepStrictEqual(task.history?.[0].parts[0].data, { tool: 'Write', args })).toBe(true);
  },
);
