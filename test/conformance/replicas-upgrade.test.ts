import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AgentClient } from '../helpers/agent-client.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { launchAgentProcess } from '../helpers/agent-process.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { type NextRelease, nextRelease, nextVersion } from '../helpers/next-release.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { commandsOver } from '../helpers/shared-folder.ts';
import { deferring, reached } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

let server: PostgresServer;
let next: NextRelease;

beforeAll(async () => {
  server = await PostgresServer.start();
  next = await nextRelease();
});
afterAll(() => server.remove());

const paying = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const resuming = deferring({}, { on_restart: 'resume' });
const approval = { decision: 'approve', approver: 'ann' };

/** Starts a daemon of the later release over a database, in a folder of its own. */
async function startNext(database: string, settings: ServiceSettings = resuming) {
  const folder = new AgentFolder({ ...settings, store: { kind: 'postgres' } });
  onTestFinished(() => folder.remove());
  const env = { SERVICE_DATABASE_URL: server.url(database) };
  return launchAgentProcess(folder, onTestFinished, [], [], env, next.program);
}

describe('an upgrade of three daemons, one after the other,', () => {
  it('refuses no decision, loses no call and runs each once, while calls arrive everywhere', async () => {
    const { a, b, c, database } = await startReplicas(server, resuming);
    const folders = [a, b, c].map(({ folder }) => folder);
    /** What a load balancer sends requests to; a daemon leaves before it stops. */
    const ready: AgentClient[] = [a, b, c];
    let turn = 0;
    const any = () => ready[(turn += 1) % ready.length]!;
    const statuses: number[] = [];
    let asked = 0;
    let isOver = false;
    const caller = async (): Promise<void> => {
      while (!isOver) {
        const id = `order-${(asked += 1)}`;
        void any()
          .send(id, paying)
          .catch(() => undefined);
        await vi.waitFor(async () => {
          expect((await any().get(`/tasks/${id}`)).body.status?.state).toBe('deferred');
        }, patient);
        statuses.push((await any().decide(id, approval)).status);
        // While a daemon starts, calls continue without taking the machine from it.
        await setTimeout(20);
      }
    };
    const callers = [caller(), caller(), caller()];
    const after = (count: number) => vi.waitUntil(() => statuses.length >= count, patient);

    for (const old of [a, b, c]) {
      const count = statuses.length;
      await after(count + 5);
      const newer = await startNext(database);
      folders.push(newer.folder);
      ready.push(newer);
      // Old and new daemons hold and decide calls of each other.
      await after(count + 25);
      ready.splice(ready.indexOf(old), 1);
      // The load balancer sends nothing more to it, and it has accepted what it was sent.
      await after(statuses.length + 5);
      await old.stop();
    }
    await after(statuses.length + 5);
    isOver = true;
    await Promise.all(callers);

    expect(new Set(statuses)).toEqual(new Set([200]));
    const { length } = statuses;
    await vi.waitFor(async () => {
      const states = await Promise.all(
        Array.from({ length }, async (_, index) => {
          const { body } = await any().get(`/tasks/order-${index + 1}`);
          return body.status.state as string;
        }),
      );
      expect(new Set(states)).toEqual(new Set(['completed']));
    }, patient);
    expect(folders.flatMap(({ paid }) => paid)).toHaveLength(length);
    const run = commandsOver(server.url(database));
    const verified = await run('audit', 'verify', '--dir', folders.at(-1)!.path);
    expect(verified.stdout).toContain('chain intact');
  });

  it('lets a call at an old daemon join the equal one that waits at a newer daemon', async () => {
    const settings = { ...resuming, server: { mcp: true } };
    const { a, b, c, database } = await startReplicas(server, settings);
    await Promise.all([b.stop(), c.stop()]);
    const newer = await startNext(database, settings);
    const call = { name: 'pay', arguments: { order: 'A-1042' } };
    const first = (await mcpClientAt(newer.url)).callTool(call);
    await vi.waitFor(async () => {
      expect((await a.get('/deferrals')).body.total).toBe(1);
    }, patient);
    const second = (await mcpClientAt(a.url)).callTool(call);
    await vi.waitFor(async () => {
      const [waiting] = (await a.get('/deferrals')).body.deferrals;
      expect(waiting?.requests).toBe(2);
    }, patient);
    const [waiting] = (await a.get('/deferrals')).body.deferrals;
    await a.decide(waiting.task_id, approval);
    const texts = (await Promise.all([first, second])).map(textIn);
    expect(texts[1]).toBe(texts[0]);
    expect([a.folder.paid.length, newer.folder.paid.length]).toEqual([0, 1]);
  });

  it('lets an old daemon decide, cancel and answer for tasks of the newer ones', async () => {
    const { a, b, c, database } = await startReplicas(server, resuming);
    await Promise.all([b.stop(), c.stop()]);
    const newer = await startNext(database);
    for (const id of ['one', 'two', 'three']) {
      void newer.send(id, paying).catch(() => undefined);
      await reached(newer, id, 'deferred');
    }

    const approved = await a.decide('one', approval);
    const again = await a.decide('one', { decision: 'reject', approver: 'bo' });
    const canceled = await a.post('/tasks/two/cancel', {});
    const refused = await a.decide('three', { ...approval, deferral_id: 'another' });

    expect([approved.status, approved.body]).toEqual([
      200,
      expect.objectContaining({ status: 'resolved' }),
    ]);
    expect([again.status, again.body.error]).toEqual([409, 'deferral already decided']);
    expect(canceled.status).toBe(200);
    expect((await a.get('/tasks/two')).body.status.state).toBe('canceled');
    expect(refused.status).toBe(409);
    await reached(newer, 'one', 'completed');
    expect([a.folder.paid.length, newer.folder.paid.length]).toEqual([0, 1]);
    const doctor = await commandsOver(server.url(database))(
      'doctor',
      '--dir',
      a.folder.path,
      '--json',
    );
    expect(doctor.stdout).toContain('2 daemons are at work, of several releases (0.1.0, 99.0.0)');

    await newer.kill();
    const left = await a.decide('three', approval);
    expect([left.status, left.body.error]).toEqual([
      409,
      `task three was saved by version 2 of the task machine, and release 0.1.0, which runs version 1, cannot continue it; decide it with release ${nextVersion}`,
    ]);
  });
});
