import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CredentialIssuer,
  createCredentialIssuer,
} from '../../../src/actors/governance/credentials/credentials.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  payment,
  playing,
  reaches,
  toolCalled,
} from '../../helpers/system-story.ts';
import { copyFiles, openSystem } from '../../helpers/test-system.ts';

const secret = 'canary-of-the-shop-81f2';

/** An issuer that counts its requests, of which the next may wait or fail as configured. */
function countingIssuer(env: Record<string, string> = { SHOP_KEY: secret }) {
  const quiet = () => undefined;
  const entry = {
    tool: 'pay',
    provider: 'static',
    spec: { env: { KEY: { from_env: 'SHOP_KEY' } } },
  };
  const real = createCredentialIssuer([{ ...entry, provider: 'static' }], {
    env,
    clock: { now: () => 0, setTimeout: quiet, clearTimeout: quiet },
    log: { info: quiet, warn: quiet, error: quiet },
  });
  const issued: string[] = [];
  const issuer: CredentialIssuer = {
    providerOf: (tool) => real.providerOf(tool),
    issue: async (request) => {
      issued.push(request.callId);
      return real.issue(request);
    },
  };
  return { issuer, issued };
}

describe('a call with credentials', () => {
  it('has them while it runs, after its approval, and no one else reads them', async () => {
    const { issuer, issued } = countingIssuer();
    const seen: unknown[] = [];
    const pay = toolCalled('pay', async (_args, { credential }) => {
      seen.push(credential?.env());
      return `paid with ${credential?.env()['KEY']}`;
    });
    const rig = await openSystem({ tools: [pay], issuer, deferred: { pay: {} } });
    const { id } = await parks(rig.system);
    expect(issued).toEqual([]);
    await rig.system.decide(id, decision('approve', rig.clock.now()));
    const ended = await ends(rig.system, id);
    expect(ended.text).toBe('done: paid with [redacted:credential]');
    expect(seen).toEqual([{ KEY: secret }]);
    expect(briefly(rig.events(id))).toEqual([
      'session_start',
      'llm_call',
      'task_deferred',
      'task_deferred_decision approve',
      'credential_issued',
      'tool_exec start',
      'tool_exec end',
      'llm_call',
      'session_end completed',
    ]);
    for (const name of readdirSync(rig.directory)) {
      expect(readFileSync(join(rig.directory, name)).includes(secret), name).toBe(false);
    }
    expect(() => pay.runs[0]?.credential?.env()).toThrow('revoked');
  });

  it('does not get those of another call', async () => {
    const { issuer, issued } = countingIssuer();
    const pay = toolCalled('pay');
    const look = toolCalled('look');
    const { system } = await openSystem({ tools: [pay, look], issuer });
    await ends(
      system,
      await system.open(playing([{ tool: 'pay' }, { tool: 'look' }, { say: 'x' }])),
    );
    expect(look.runs.map(({ credential }) => credential)).toEqual([null]);
    expect(issued).toEqual([pay.runs[0]?.callId]);
  });

  it('never starts when they cannot be issued', async () => {
    const pay = toolCalled('pay');
    const env: Record<string, string> = { SHOP_KEY: secret };
    const { issuer } = countingIssuer(env);
    delete env['SHOP_KEY'];
    const rig = await openSystem({ tools: [pay], issuer });
    const id = await rig.system.open(payment);
    const ended = await ends(rig.system, id);
    expect(ended.failure).toMatchObject({ kind: 'denied', layer: 'credentials', tool: 'pay' });
    expect(pay.runs).toEqual([]);
    expect(briefly(rig.events(id))).toEqual([
      'session_start',
      'llm_call',
      'credential_failed',
      'session_end failed',
    ]);
  });

  it('loses them when it is canceled', async () => {
    const { issuer } = countingIssuer();
    const door = gate();
    const pay = toolCalled('pay', () => door.opened.then(() => 'late'));
    const { system } = await openSystem({ tools: [pay], issuer });
    const id = await system.open(payment);
    await reaches(system, id, 'working');
    await expect.poll(() => pay.runs.length).toBe(1);
    await system.cancel(id, 'timeout');
    door.open();
    await expect.poll(() => didThrow(() => pay.runs[0]?.credential?.env())).toBe(true);
  });

  it('gets new ones when a restart repeats it, for the same start', async () => {
    const door = gate();
    const before = countingIssuer();
    const hanging = toolCalled('pay', () => door.opened.then(() => 'lost'), { idempotent: true });
    const first = await openSystem({ tools: [hanging], issuer: before.issuer });
    const id = await first.system.open(payment);
    await expect.poll(() => hanging.runs.length).toBe(1);
    const directory = copyFiles(first.directory);
    await first.stop();
    door.open();
    const after = countingIssuer();
    const pay = toolCalled('pay', undefined, { idempotent: true });
    const rig = await openSystem({
      directory,
      clock: first.clock,
      tools: [pay],
      issuer: after.issuer,
    });
    expect((await ends(rig.system, id)).text).toBe('done: pay ok');
    expect(after.issued).toEqual(before.issued);
    expect(briefly(rig.events(id))).toEqual([
      'session_start',
      'llm_call',
      'credential_issued',
      'tool_exec start',
      'credential_issued',
      'tool_exec end',
      'llm_call',
      'session_end completed',
    ]);
  });
});

function didThrow(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}
