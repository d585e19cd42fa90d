import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { LossyLink } from '../helpers/lossy-link.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { sharedLog } from '../helpers/shared-log.ts';
import { deferring, launchAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start({ settings: ['max_connections=40'] });
  await server.query(`CREATE ROLE agent LOGIN PASSWORD 's3cret'`);
});
afterAll(() => server.remove());

const variable = 'SERVICE_DATABASE_URL';
const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

const isReady = (at: TestAgent, status: number) =>
  vi.waitFor(async () => expect((await at.get('/readyz')).status).toBe(status), patient);

/** What a daemon has complained of, each sentence once. */
const complaintsOf = ({ log }: TestAgent): unknown[] => [
  ...new Set(log.filter(({ level }) => level !== 'info').map(({ fields }) => Object(fields).error)),
];

/** Sends a task and has it approved at another daemon, each again whenever that is refused; returns its text. */
async function payed(id: string, at: TestAgent, other: TestAgent): Promise<string> {
  const sent = vi.waitFor(async () => {
    const { status, body } = await at.send(id, pay);
    if (status === 200) return body;
    // It may have been begun all the same, and is told of where it is asked for.
    const { body: task } = await at.get(`/tasks/${id}`);
    expect(task.status?.state).toBe('completed');
    return task;
  }, busy);
  const decided = vi.waitFor(async () => {
    const { status } = await other.decide(id, { decision: 'approve', approver: 'ann' });
    expect([200, 409]).toContain(status);
  }, busy);
  const [body] = await Promise.all([sent, decided]);
  return textOf({ body });
}

const busy = { timeout: 90_000, interval: 100 };

describe('connections that are ended again and again', () => {
  it('lose no task, and run no tool twice', async () => {
    const { a, b, c, database } = await startReplicas(
      server,
      deferring({}, { on_restart: 'resume' }),
    );
    const all = [a, b, c];
    const ids = Array.from({ length: 60 }, (_, index) => `t-${index}`);
    const texts: string[] = [];
    let cuts = 0;
    await Promise.all(
      ids.map(async (id, index) => {
        const [at, other] = [all[index % 3], all[(index + 1) % 3]] as [TestAgent, TestAgent];
        texts.push(await payed(id, at, other));
        cuts += await server.cut(database, `application_name = 'holdpoint'`);
      }),
    );
    expect(texts).toEqual(ids.map(() => 'paid'));
    console.log(cuts);
    for (const at of all) await isReady(at, 200);
    const paid = all.flatMap(({ folder }) => folder.paid);
    expect([paid.length, new Set(paid).size]).toEqual([60, 60]);
    const log = await sharedLog(server, database);
    const count = (event: string) =>
      log
        .filter((line) => line.event === event)
        .map(({ task_id: id }) => String(id))
        .toSorted();
    expect(count('session_end')).toEqual(ids.toSorted());
  });
});
