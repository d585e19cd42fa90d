import { expect, it, onTestFinished, vi } from 'vitest';
import { Cluster } from '../../scripts/crash/cluster.ts';
import { brokenInvariants } from '../../scripts/crash/invariants.ts';
import { Load } from '../../scripts/crash/load.ts';
import type { AgentProcess } from '../helpers/agent-process.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { TcpSwitch } from '../helpers/tcp-switch.ts';
import { deferring, reached, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

it('a suspended daemon loses its work to others, and commits nothing of it when it resumes', async () => {
  const cluster = await Cluster.start({ store: 'postgres', onRestart: 'resume' });
  onTestFinished(() => cluster.close());
  const [a, b] = cluster.alive as [AgentProcess, AgentProcess];
  const held = a.send('t1', [{ tool: 'hold', args: { n: 1 } }, { say: 'got {result}' }]);
  await vi.waitFor(() => expect(cluster.folders[0]?.held).toHaveLength(1), patient);
  a.signal('SIGSTOP');
  // Its connections stand, so that its silence alone tells.
  const task = await vi.waitFor(() => reached(b, 't1', 'failed'), { timeout: 40_000 });
  const text = 'interrupted by service restart: hold had started and its outcome is unknown';
  expect(textOf({ body: task })).toBe(text);
  a.signal('SIGCONT');
  await cluster.folders[0]?.openGate('7');
  expect(textOf(await held)).toBe(text);
  await vi.waitFor(async () => expect((await a.get('/readyz')).status).toBe(200), patient);
  expect((await a.get('/tasks/t1')).body.status).toEqual(task.status);
  expect(cluster.folders.flatMap(({ held: begun }) => begun)).toHaveLength(1);
  expect(await brokenInvariants(cluster, new Load(cluster, () => 0))).toEqual([]);
});

it('a standby that is promoted under load has every acknowledged write', async () => {
  const primary = await PostgresServer.start();
  onTestFinished(() => primary.remove());
  const through = await TcpSwitch.open(primary.port);
  onTestFinished(() => through.close());
  const { a, b, c, database } = await startReplicas(primary, deferring(), through);
  const standby = await primary.standby();
  onTestFinished(() => standby.remove());
  // What is acknowledged is on both; otherwise the operator has chosen to lose it.
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await primary.query('SELECT pg_reload_conf()');
  const sends = Array.from({ length: 40 }, (_, index) => {
    const at = [a, b, c][index % 3] ?? a;
    return at.send(`t${index}`, [{ tool: 'pay', args: { index } }, { say: 'paid' }]);
  });
  for (let index = 0; index < 20; index += 1) {
    await b.reached(`t${index}`, 'deferred');
    const { status } = await c.decide(`t${index}`, { decision: 'approve', approver: 'ann' });
    expect(status).toBe(200);
  }
  await primary.stop('immediate');
  await standby.promote();
  await standby.query(`ALTER SYSTEM SET synchronous_standby_names = ''`);
  await standby.query('SELECT pg_reload_conf()');
  through.leadTo(standby.port);
  await vi.waitFor(async () => expect((await a.get('/readyz')).status).toBe(200), patient);
  for (let index = 20; index < 40; index += 1) {
    await b.reached(`t${index}`, 'deferred');
    const { status } = await a.decide(`t${index}`, { decision: 'approve', approver: 'ann' });
    expect(status).toBe(200);
  }
  const answers = await Promise.all(sends);
  expect(answers.map((answer) => textOf(answer))).toEqual(answers.map(() => 'paid'));
  const paid = [a, b, c].flatMap(({ folder }) => folder.paid);
  expect([paid.length, new Set(paid).size]).toEqual([40, 40]);
  const sql = 'SELECT count(*) AS lines, max(line) AS last FROM holdpoint.audit_lines';
  const [log] = await standby.query(sql, [], database);
  expect(log?.['lines']).toEqual(log?.['last']);
});
