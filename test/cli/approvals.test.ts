import { afterAll, beforeAll, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import {
  cleanUp,
  type Daemon,
  refundAgent,
  startCommand,
  startDaemon,
  untilHeld,
} from './holdpoint.ts';

const service = `agent_id: refunds
model: {provider: scripted, name: demo}
builtin_tools: [datetime_now]
security:
  defer:
    enabled: true
    remember: {}
    tools: {datetime_now: {to: 'channel:console:*'}}
`;
const script = JSON.stringify([{ tool: 'datetime_now' }, { say: 'done' }]);

let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon(await refundAgent(service));
}, 60_000);

afterAll(async () => {
  await daemon.stop();
  await cleanUp();
});

const command = (...args: string[]) => holdpointHere([...args, '--dir', daemon.directory]);

it('approvals delegate decisions, and list and end the delegation', async () => {
  const none = await command('delegate', 'list');
  expect(none).toMatchObject({ code: 0, stdout: 'no delegation is in force\n' });
  const given = await command('delegate', 'ann@example.com', 'bob@example.com', '--until', '3d');
  const [, id = ''] = /\((.+)\)$/m.exec(given.stdout) ?? [];
  expect(given.stdout).toMatch(
    /^bob@example\.com decides for ann@example\.com until 20.+ \(.+\)\n$/,
  );
  const listed = await command('delegate', 'list');
  expect(listed.stdout).toMatch(new RegExp(`^${id} {2}bob@example.com for ann@example.com until `));
  expect((await command('delegate', 'end', id)).stdout).toBe(
    'bob@example.com no longer decides for ann@example.com\n',
  );
  expect((await command('delegate', 'end', id)).code).not.toBe(0);
});

it.each([
  [['ann@example.com', 'bob@example.com'], 'error: --until must be a time such as'],
  [
    ['ann@example.com', 'bob@example.com', '--until', 'soon'],
    'error: --until must be a time such as',
  ],
  [
    ['ann@example.com', 'ann@example.com', '--until', '1d'],
    'error: no one can delegate to oneself',
  ],
])('approvals refuse %j', async (people, error) => {
  const { code, stderr } = await command('delegate', ...people);
  expect([code, stderr.slice(0, error.length)]).toEqual([2, error]);
});

it('approvals are remembered, listed and revoked', async () => {
  const sent = startCommand([
    ...['task', 'send', 'go', '--id', 't1', '--script', script, '--dir', daemon.directory],
  ]);
  await untilHeld(daemon, 't1');
  const approved = await command(
    ...['task', 'approve', 't1', '--approver', 'Ann', '--remember', 'caller', '--uses', '2'],
  );
  expect(approved).toMatchObject({ code: 0, stdout: 'task t1: approved by Ann\n' });
  await sent.ended;
  const again = await command('task', 'send', 'go', '--id', 't2', '--script', script);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('done') });
  const { stdout } = await command('grants', 'list');
  const [, id = ''] = /^(\S+) /.exec(stdout) ?? [];
  expect(stdout).toMatch(/^\S+ {2}datetime_now: equal calls, 1 left until 20.+, by Ann\n$/);
  expect((await command('grants', 'revoke', id)).stdout).toBe(
    'calls of datetime_now are asked for again\n',
  );
  expect((await command('grants', 'list')).stdout).toBe('no approval releases later calls\n');
});
