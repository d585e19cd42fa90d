import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestAgent } from '../../helpers/test-agent.ts';
import { holdpointHere } from '../command-here.ts';

const hold = { defer: { enabled: true, tools: { pay: { to: 'channel:console:*' } } } };

describe('policy diff', () => {
  it('compares files, folders and stored digests, on the last calls of the running agent', async () => {
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

  it('needs secrets only for a policy that uses one', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'diff-'));
    await mkdir(join(directory, '.service'));
    await writeFile(join(directory, '.service/secrets.enc'), 'unreadable');
    const file = async (name: string, to: string) => {
      const security = { defer: { enabled: true, tools: { pay: { to } } } };
      const gate = { tools: { pay: {} } };
      await writeFile(join(directory, name), JSON.stringify({ agent_id: 'x', gate, security }));
      return join(directory, name);
    };
    const one = await file('service.yaml', 'channel:console:*');
    const other = await file('other.yaml', 'channel:console:ann');
    const secret = await file('secret.yaml', 'channel:console:${APPROVER}');
    const diff = async (...files: string[]) => {
      const ended = await holdpointHere(['policy', 'diff', ...files, '--dir', directory]);
      return [ended.code, ended.stdout];
    };
    expect(await diff(one, one)).toEqual([0, 'the rules are equal\n']);
    expect((await diff(one, other))[1]).toMatch(/defer\.tools\.pay\n$/);
    expect(await diff(secret, secret)).toEqual([4, '']);
    expect(await diff(one, one, '--log')).toEqual([4, '']);
  });

  it('fails for a changed condition until a table shows that no row is less restricted', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'diff-'));
    const file = async (name: string, when: string | null) => {
      const allowing = when === null ? { allow: true } : { when, allow: true };
      const tools = { pay: [allowing, { to: 'channel:console:*' }] };
      const gate = { tools: { pay: { schema: { properties: { amount: { type: 'number' } } } } } };
      const security = { defer: { enabled: true, tools } };
      const path = join(directory, name);
      await writeFile(path, JSON.stringify({ agent_id: 'x', gate, security }));
      return path;
    };
    const small = await file('service.yaml', 'args.amount <= 50.0');
    const large = await file('large.yaml', 'args.amount <= 500.0');
    const any = await file('any.yaml', null);
    const table = async (name: string, amounts: number[]) => {
      const rows = amounts.map((amount) => ({
        ...{ name: `pay ${amount}`, tool: 'pay', args: { amount } },
        expect: { decision: 'allow' },
      }));
      await writeFile(join(directory, name), JSON.stringify(rows));
      return join(directory, name);
    };
    const diff = async (...args: string[]) => {
      const { code, stdout, stderr } = await holdpointHere([
        ...['policy', 'diff', ...args, '--dir', directory],
      ]);
      return [code, stdout, stderr.split('\n').filter((line) => line.startsWith('error'))];
    };
    const changed =
      '~ may be looser  defer.tools.pay[0]\n    before  if args.amount <= 50.0\n    after   if args.amount <= 500.0\n';
    expect(await diff(small, large)).toEqual([
      5,
      changed,
      [
        'error: 1 of 1 changes may be looser; evaluate changed conditions with --table FILE or --log',
      ],
    ]);
    const harmless = await table('harmless.yaml', [5, 900]);
    expect(await diff(small, large, '--table', harmless)).toEqual([
      0,
      `${changed}0 of 2 rows have another outcome\n`,
      [],
    ]);
    const telling = await table('telling.yaml', [5, 100]);
    expect(await diff(small, large, '--table', telling)).toEqual([
      5,
      `${changed}  ${telling} row 2  pay  defer → run\n1 of 2 rows have another outcome\n`,
      ['error: 1 of 1 changes may be looser, 1 evaluated calls are less restricted'],
    ]);
    expect(await diff(small, any, '--table', harmless)).toEqual([
      5,
      `~ looser   defer.tools.pay[0]\n    before  if args.amount <= 50.0\n    after   always\n  ${harmless} row 2  pay  defer → run\n1 of 2 rows have another outcome\n`,
      ['error: 1 of 1 changes are looser, 1 evaluated calls are less restricted'],
    ]);
  });
});
