import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { schemaSteps } from '../../src/actors/records/sqlite/store-schema.ts';
import { version } from '../../src/version.ts';
import { AgentClient } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { type NextRelease, nextRelease, nextVersion } from '../helpers/next-release.ts';
import { deferring, expectIntact, reached, readAudit, textOf } from '../helpers/test-agent.ts';
import { holdpointHere } from './command-here.ts';
import { type Ended, holdpoint, startProcess } from './holdpoint.ts';

vi.setConfig({ testTimeout: 120_000 });

let next: NextRelease;
let breaking: NextRelease;

beforeAll(async () => {
  next = await nextRelease();
  breaking = await nextRelease({ breaks: true });
});

const paying = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const approval = { decision: 'approve', approver: 'ann' };

/** An agent that runs in the background with this release, whose call `order-1` waits. */
async function inBackground(audit = { sign: true }) {
  const folder = new AgentFolder({ ...deferring({}, { on_restart: 'resume' }), audit });
  const { path } = folder;
  onTestFinished(async () => {
    await holdpoint(['serve', 'stop', '--dir', path]);
    folder.remove();
  });
  const { stdout } = await holdpoint(['serve', 'start', '--dir', path, '--port', '0', '--json']);
  const agent = clientOf(stdout);
  void agent.send('order-1', paying).catch(() => undefined);
  await reached(agent, 'order-1', 'deferred');
  return { folder, path, agent };
}

function clientOf(json: string): AgentClient {
  return new AgentClient((JSON.parse(json) as { url: string }).url, null);
}

function runNext({ program }: NextRelease, ...args: string[]): Promise<Ended> {
  const flags = ['--disable-warning=ExperimentalWarning', program, ...args, '--json'];
  return startProcess(process.execPath, flags).ended;
}

const errorOf = ({ stdout }: Ended) =>
  (JSON.parse(stdout) as { error: { code: string; message: string } }).error;

function servedBy(path: string): string {
  const text = readFileSync(join(path, '.service/serve.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

describe('upgrade', () => {
  it('checks, backs up and restarts an agent in the background, whose waiting call is decided after it', async () => {
    const { folder, path } = await inBackground();
    const backups = join(path, '.service/backups');
    mkdirSync(backups);
    const old = ['20260101T000000Z', '20260102T000000Z', '20260103T000000Z'];
    for (const time of old) writeFileSync(join(backups, `till-${time}.tar.gz`), '');

    const checked = await runNext(next, 'upgrade', '--dir', path, '--check');
    expect(servedBy(path)).toBe(version);
    const { code, stdout, stderr } = await runNext(next, 'upgrade', '--dir', path);

    const plan = {
      agent_id: 'till',
      from: version,
      to: nextVersion,
      store: { from: schemaSteps.length, to: schemaSteps.length + 1 },
      reversible: true,
      waiting: 1,
    };
    expect(JSON.parse(checked.stdout)).toEqual({ ...plan, backup: null, url: null });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout)).toEqual({
      ...plan,
      backup: expect.stringContaining(join(path, '.service/backups/till-')),
      url: expect.stringMatching(/^http:/),
    });
    expect(servedBy(path)).toBe(nextVersion);
    const { backup } = JSON.parse(stdout) as { backup: string };
    const kept = old.slice(1).map((time) => `till-${time}.tar.gz`);
    expect(readdirSync(backups).toSorted()).toEqual([...kept, basename(backup)]);
    const agent = clientOf(stdout);
    expect((await agent.decide('order-1', approval)).status).toBe(200);
    await reached(agent, 'order-1', 'completed');
    expect(folder.paid).toHaveLength(1);
  });

  it('warns of no waiting call of a gate, which keeps it', async () => {
    const folder = new AgentFolder({ gate: { tools: { pay: {} } }, ...deferring() });
    onTestFinished(() => folder.remove());
    const { path } = folder;
    const start = await holdpoint(['serve', 'start', '--dir', path, '--port', '0', '--json']);
    onTestFinished(async () => void (await holdpoint(['serve', 'stop', '--dir', path])));
    const agent = clientOf(start.stdout);
    const held = await agent.post('/holds', { key: 'k', tool: 'pay', args: { amount: 1 } });
    expect(held.status).toBe(202);
    const { stderr, code } = await holdpointHere(['upgrade', '--dir', path, '--check']);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it('warns of waiting calls that a restart ends, and refuses files that this release cannot read', async () => {
    const folder = new AgentFolder(deferring());
    onTestFinished(() => folder.remove());
    const { path } = folder;
    const start = await holdpoint(['serve', 'start', '--dir', path, '--port', '0', '--json']);
    onTestFinished(async () => void (await holdpoint(['serve', 'stop', '--dir', path])));
    const agent = clientOf(start.stdout);
    void agent.send('order-1', paying).catch(() => undefined);
    await reached(agent, 'order-1', 'deferred');

    const { stderr } = await holdpointHere(['upgrade', '--dir', path, '--check']);

    expect(stderr).toContain(
      '1 waiting call ends at the restart; set security.defer.on_restart: resume to keep them',
    );
    writeFileSync(join(path, 'service.yaml'), '{"agent_id": "till", "security": {"defre": {}}}');
    const refused = await holdpointHere(['upgrade', '--dir', path, '--json']);
    expect(errorOf(refused).code).toBe('config_invalid');
    expect(existsSync(join(path, '.service/upgrade.json'))).toBe(false);
  });
});

describe('rollback', () => {
  it('keeps a store that the earlier release can use, with the waiting call', async () => {
    const { path, folder } = await inBackground();
    await runNext(next, 'upgrade', '--dir', path);

    const wrong = await runNext(next, 'rollback', '--dir', path);
    const { stdout } = await holdpoint(['rollback', '--dir', path, '--json']);

    expect(errorOf(wrong).message).toBe(
      `release ${nextVersion} is the one that the upgrade led to`,
    );
    expect(JSON.parse(stdout)).toEqual({
      agent_id: 'till',
      release: version,
      restored: null,
      url: expect.stringMatching(/^http:/),
    });
    expect(servedBy(path)).toBe(version);
    const agent = clientOf(stdout);
    expect((await agent.decide('order-1', approval)).status).toBe(200);
    await reached(agent, 'order-1', 'completed');
    expect(folder.paid).toHaveLength(1);
    const again = await holdpointHere(['rollback', '--dir', path, '--json']);
    expect(errorOf(again).message).toBe(`no upgrade of the agent in ${path} is recorded`);
  });

  it.each([
    ['signed', true],
    ['without a key', false],
  ])(
    'restores the store where it cannot use the current one, keeps the log and runs nothing twice (%s)',
    async (_, sign) => {
      const { path, folder } = await inBackground({ sign });
      const upgraded = await runNext(breaking, 'upgrade', '--dir', path);
      expect(JSON.parse(upgraded.stdout)).toMatchObject({ reversible: false });
      const newer = clientOf(upgraded.stdout);
      await newer.decide('order-1', approval);
      await reached(newer, 'order-1', 'completed');
      void newer.send('order-2', paying).catch(() => undefined);
      await reached(newer, 'order-2', 'deferred');
      const log = join(path, '.service/audit.ndjson');

      const { code, stdout } = await holdpoint(['rollback', '--dir', path, '--json']);

      expect(code).toBe(0);
      const { restored } = JSON.parse(stdout) as { restored: string };
      expect(restored).toContain(join(path, '.service/backups/till-'));
      const agent = clientOf(stdout);
      const lost = 'interrupted: the outcome is only in the audit log';
      for (const id of ['order-1', 'order-2'])
        expect(textOf(await agent.get(`/tasks/${id}`))).toBe(lost);
      expect(folder.paid).toHaveLength(1);
      expect(readAudit(log).map(({ event }) => event)).toContain('store_behind_log');
      const [back] = readAudit(log).filter(({ event }) => event === 'store_restored');
      expect(back?.fields).toMatchObject({
        signed_by: sign ? expect.stringMatching(/^audit-[0-9a-f]{16}$/) : null,
      });
      await expectIntact(log);
    },
  );
});
