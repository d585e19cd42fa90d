import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestAgent } from '../../helpers/test-agent.ts';
import { holdpointHere } from '../command-here.ts';

const hold = { defer: { enabled: true, tools: { pay: { to: 'channel:console:*' } } } };

describe('policy diff', () => {
  it('compares files, folders and kept digests, with the last calls of the running agent', async () => {
    const agent = await startTestAgent({ security: { ...hold, policy: { reload: 'manual' } } });
    const dir = agent.folder.path;
    const [loaded] = agent.audit().filter(({ event }) => event === 'policy_loaded');
    const inForce = String(loaded?.fields?.['policy_sha256']);
    const sending = agent.send('t1', [{ tool: 'pay', args: { amount: '5' } }, { say: 'x' }]);
    await agent.reached('t1', 'deferred');
    const service = JSON.parse(await readFile(join(dir, 'service.yaml'), 'utf8'));
    const file = join(await mkdtemp(join(tmpdir(), 'diff-')), 'service.yaml');
    const looser = { ...service, security: { policy: { reload: 'manual' } } };
    await writeFile(file, JSON.stringify(looser));

    const same = await holdpointHere(['policy', 'diff', inForce.slice(0, 12), dir, '--dir', dir]);
    expect([same.code, same.stdout]).toEqual([0, 'the rules are equal\n']);
    const worse = await holdpointHere(['policy', 'diff', inForce, file, '--log', '--dir', dir]);
    expect([worse.code, worse.stdout]).toEqual([
      5,
      '- looser   defer.tools.pay\n  t1  pay  defer → run\n1 of the last calls have another outcome\n',
    ]);
    const better = await holdpointHere(['policy', 'diff', file, dir, '--json', '--dir', dir]);
    expect([better.code, JSON.parse(better.stdout)]).toMatchObject([
      0,
      {
        after_sha256: inForce,
        rules: [{ name: 'defer.tools.pay', change: 'added', effect: 'tighter' }],
      },
    ]);
    const unknown = await holdpointHere(['policy', 'diff', 'abcdef012345', dir, '--dir', dir]);
    expect(unknown.code).toBe(3);
    await agent.post('/tasks/t1/cancel', {});
    await sending;
  });
});
