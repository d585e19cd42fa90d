import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdpointHere } from './command-here.ts';
import {
  cleanUp,
  type Daemon,
  refundAgent,
  startCommand,
  startDaemon,
  temporaryFolder,
  untilHeld,
} from './holdpoint.ts';

const service = `agent_id: refunds
model: {provider: scripted, name: demo}
builtin_tools: [datetime_now]
audit: {sign: true}
security: {defer: {enabled: true, tools: {datetime_now: {to: 'channel:console:*'}}}}
`;
const script = JSON.stringify([{ tool: 'datetime_now' }, { tool: 'nothing' }]);

let daemon: Daemon;
let folder: string;
let keys: string;
let log: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  daemon = await startDaemon(await refundAgent(service));
  log = join(daemon.directory, '.service/audit.ndjson');
  const of = ['--dir', daemon.directory];
  const sent = startCommand(['task', 'send', 'go', '--id', 't1', '--script', script, ...of]);
  await untilHeld(daemon, 't1');
  await holdpointHere(['task', 'approve', 't1', '--approver', 'Ann', ...of]);
  await sent.ended;
  keys = join(folder, 'keys.json');
  writeFileSync(keys, (await holdpointHere(['audit', 'keys', ...of])).stdout);
}, 60_000);

afterAll(async () => {
  await daemon.stop();
  await cleanUp();
});

function receipt(...args: string[]) {
  return holdpointHere(['receipt', ...args, '--dir', daemon.directory]);
}

async function fetched(name: string): Promise<string> {
  const path = join(folder, name);
  expect((await receipt('t1', '-o', path)).code).toBe(0);
  return path;
}

describe('receipt', () => {
  it('fetches one for every ended call, or for a named one', async () => {
    const all = await receipt('t1');
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout.trim().split('\n')).toHaveLength(2);
    const { receipts } = JSON.parse((await receipt('t1', '--json')).stdout);
    const one = await receipt('t1', receipts[0].call_id);
    expect(one.stdout.trim().split('.')).toHaveLength(3);
    expect(await receipt('t1', 'none')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the log of this agent has no such call of the task'),
    });
  });

  it('reports that an agent does not sign, also for a task with several calls', async () => {
    const unsigned = await startDaemon(
      await refundAgent(service.replace('sign: true', 'sign: false')),
    );
    const of = ['--dir', unsigned.directory];
    const sent = startCommand(['task', 'send', 'go', '--id', 't1', '--script', script, ...of]);
    await untilHeld(unsigned, 't1');
    await holdpointHere(['task', 'approve', 't1', '--approver', 'Ann', ...of]);
    await sent.ended;
    const { code, stderr } = await holdpointHere(['receipt', 't1', ...of]);
    await unsigned.stop();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('this agent does not sign its log, so it has no receipts'),
    ]);
  });

  it('writes only a new file', async () => {
    const path = await fetched('once');
    expect(await receipt('t1', '-o', path)).toMatchObject({
      code: 1,
      stderr: `error: ${path} is there already; name another file with -o\n`,
    });
  });
});

describe('receipt verify', () => {
  it('needs neither the agent nor a network', async () => {
    const path = await fetched('whole');
    const verified = await holdpointHere(['receipt', 'verify', path, '--keys', keys, '--log', log]);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toMatch(
      /^t1 \S+: signed, and the log has its lines; datetime_now: succeeded, approved by Ann\nt1 \S+: signed, and the log has its lines; nothing: not run\n$/,
    );
    const own = await holdpointHere(['receipt', 'verify', path, '--dir', daemon.directory]);
    expect([own.code, own.stdout]).toEqual([
      0,
      verified.stdout.replaceAll(', and the log has its lines', ''),
    ]);
  });

  it('exits with 6 on a changed receipt, a foreign key and a log without a line', async () => {
    const path = await fetched('base');
    const [header, claims = '', signature] = readFileSync(path, 'utf8').split('.');
    const text = Buffer.from(claims, 'base64url').toString().replace('"Ann"', '"Eve"');
    const changed = join(folder, 'changed');
    writeFileSync(
      changed,
      [header, Buffer.from(text).toString('base64url'), signature?.split('\n')[0]].join('.'),
    );
    const short = join(folder, 'short.ndjson');
    const lines = readFileSync(log, 'utf8').split('\n');
    writeFileSync(short, lines.filter((line) => !line.includes('call_ruled')).join('\n'));
    const foreign = join(folder, 'foreign.json');
    const { keys: made } = JSON.parse((await holdpointHere(['key', 'generate', '--json'])).stdout);
    writeFileSync(foreign, JSON.stringify({ keys: made }));
    const codes = [
      [changed, '--keys', keys],
      [path, '--keys', foreign],
      [path, '--keys', keys, '--log', short],
    ].map(async (args) => (await holdpointHere(['receipt', 'verify', ...args])).code);
    expect(await Promise.all(codes)).toEqual([6, 6, 6]);
  });
});
