import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { isOverPostgres } from '../helpers/kept-store.ts';
import {
  deferring,
  expectIntact,
  readAudit,
  startInFolder,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';

/**
 * What daemons left when they were killed, by the version of their task chart: the store and the log, with one call
 * that is held, one whose task was told something meanwhile, and one with the first of its two approvals.
 */
const stores = join(import.meta.dirname, '../machines/task/stores');

/** Starts the present daemon on the files that an older one left, at the time of its last line. */
async function startedOn(version: string): Promise<TestAgent> {
  const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
  onTestFinished(() => folder.remove());
  cpSync(join(stores, version), join(folder.path, '.service'), { recursive: true });
  const last = readAudit(join(stores, version, 'audit.ndjson')).at(-1);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(String(last?.['ts'])) });
  onTestFinished(() => void vi.useRealTimers());
  return startInFolder(folder);
}

const end = ['task_deferred_decision', 'tool_exec', 'tool_exec', 'llm_call', 'session_end'];

// No release before this one kept tasks in PostgreSQL.
describe.skipIf(isOverPostgres).each(readdirSync(stores))(
  'a store that a daemon left in %s',
  (version) => {
    it('loses no held call: each is released, runs once and completes its task', async () => {
      const agent = await startedOn(version);
      const recorded = agent.audit().length;
      expect((await agent.get('/deferrals')).body.deferrals).toHaveLength(3);
      const approval = { decision: 'approve', approver_email: 'bo@example.com' };
      for (const id of ['held', 'told', 'half']) {
        expect((await agent.decide(id, approval)).body.status).toBe('resolved');
      }
      const texts = [];
      for (const id of ['held', 'told', 'half']) {
        texts.push(textOf({ body: await agent.reached(id, 'completed') }));
        const added = agent.audit().slice(recorded);
        expect(added.filter(({ task_id }) => task_id === id).map(({ event }) => event)).toEqual(
          end,
        );
        expect((await agent.decide(id, approval)).status).toBe(409);
      }
      expect(texts).toEqual([
        'paid {"amount":5}',
        'echo: {"script":[{"tool":"pay","args":{"amount":6}}]}\nany news?',
        'granted {"to":"rita"}',
      ]);
      expect(agent.folder.paid).toHaveLength(2);
      await expectIntact(agent.auditPath);
    });

    it('runs no call again that was running, and says so', async () => {
      const running = readAudit(join(stores, version, 'audit.ndjson'), 'running');
      const agent = await startedOn(version);
      if (running.length === 0) return expect(agent.folder.held).toEqual([]);
      const task = await agent.reached('running', 'failed');
      const text = 'interrupted by service restart: hold had started and its outcome is unknown';
      expect(textOf({ body: task })).toBe(text);
      expect(
        agent
          .audit('running')
          .slice(running.length)
          .map(({ event, fields }) => [event, fields]),
      ).toEqual([
        ['tool_exec', expect.objectContaining({ tool: 'hold', phase: 'end', error: text })],
        ['session_end', { state: 'failed' }],
      ]);
      expect(agent.folder.held).toEqual([]);
      await expectIntact(agent.auditPath);
    });
  },
);
