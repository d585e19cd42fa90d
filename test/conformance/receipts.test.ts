import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import canonicalize from 'canonicalize';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isOverPostgres } from '../helpers/kept-store.ts';
import { deferring, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const run = promisify(execFile);
const verifier = join(import.meta.dirname, '../../clients/python/holdpoint/verify_receipt.py');
const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');
const hex = expect.stringMatching(/^[0-9a-f]{64}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'done' }];

/** An agent that signs, with one call that a person released. */
async function agentWithCall(): Promise<{ agent: TestAgent; call: string; path: string }> {
  const agent = await startTestAgent({ ...deferring(), audit: { sign: true } });
  const sent = agent.send('t1', script);
  await agent.reached('t1', 'deferred');
  const call = (await agent.get('/tasks/t1')).body.metadata.deferral.id;
  const path = `/tasks/t1/calls/${call}/receipt`;
  expect(await agent.get(path)).toMatchObject({
    status: 409,
    body: {
      error: 'the call has not ended; ask for its receipt when it has',
      code: 'call_running',
    },
  });
  await agent.decide('t1', { decision: 'approve', approver: 'ann', note: 'fine' });
  await sent;
  return { agent, call, path };
}

async function keysOf(agent: TestAgent): Promise<JSONWebKeySet> {
  return (await agent.get('/.well-known/audit-keys.json')).body;
}

function filesOf(files: Record<string, string>): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'receipts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => {
      writeFileSync(join(folder, name), content);
      return [name, join(folder, name)];
    }),
  );
}

describe('the receipt of a call', () => {
  it('states the requester, the decision, the run, and the lines of the log', async () => {
    const { agent, call, path } = await agentWithCall();
    const { status, headers, body } = await agent.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/jose']);
    const keys = await keysOf(agent);
    const { payload } = await compactVerify(String(body), createLocalJWKSet(keys));
    expect(decodeProtectedHeader(String(body))).toEqual({
      ...{ alg: 'EdDSA', typ: 'holdpoint-receipt+jws', kid: keys.keys[0]?.kid },
    });
    const own = agent
      .audit('t1')
      .filter(({ event, fields }) => event === 'session_start' || fields?.['call_id'] === call);
    const lines = readFileSync(agent.auditPath, 'utf8').split('\n');
    const hashes = new Map(lines.map((line) => [JSON.parse(line || '{}').sig, sha256(line)]));
    const [, ruled] = own;
    const policy_sha256 = ruled?.fields?.['policy_sha256'];
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      ...{ version: 2, agent: 'till', task_id: 't1', call_id: call, deferral_id: call },
      correlation_id: own[0]?.correlation_id,
      args_sha256: sha256('{"args":{"amount":5},"tool":"pay"}'),
      runs_sha256: hex,
      asked: {
        ...{ tool: 'pay', to: 'channel:console:desk', timeout_ms: 300_000, at: time },
        context: 'tool=pay args={"amount":5}',
      },
      rulings: [
        {
          ...{ decision: 'defer', layer: 'defer', reason: 'awaiting channel:console:desk' },
          ...{ policy_sha256, at: time },
        },
      ],
      decisions: [
        {
          ...{ decision: 'approve', approver: 'ann', note: 'fine', method: 'none' },
          ...{ vouched_by: 'asserted', policy_sha256, at: time },
        },
      ],
      ran: {
        ...{ started_at: time, ended_at: time, duration_ms: expect.any(Number) },
        ...{ result_size: 12, result_sha256: sha256('{"amount":5}'), policy_sha256 },
        outcome: 'succeeded',
      },
      lines: own.map(({ seq, event, ['sig']: sig }) => ({ seq, event, sha256: hashes.get(sig) })),
      issued_at: time,
    });
    expect(own.map(({ event }) => event)).toEqual([
      ...['session_start', 'call_ruled', 'task_deferred', 'task_deferred_decision'],
      ...['tool_exec', 'tool_exec'],
    ]);
  });

  it('is verified by another program, which finds a changed member and a missing line', async () => {
    const { agent, call, path } = await agentWithCall();
    const receipt = String((await agent.get(path)).body);
    const [header, claims = '', signature] = receipt.split('.');
    const edited = Buffer.from(claims, 'base64url').toString().replace('"ann"', '"eve"');
    const changed = [header, Buffer.from(edited).toString('base64url'), signature].join('.');
    const log = readFileSync(agent.auditPath, 'utf8');
    const files = filesOf({
      ...{ receipt, changed, 'keys.json': JSON.stringify(await keysOf(agent)) },
      log: log
        .split('\n')
        .filter((line) => !line.includes('task_deferred_decision'))
        .join('\n'),
    });
    const verify = (name: string, ...more: string[]) =>
      run('python3', [verifier, files[name] ?? '', '--keys', files['keys.json'] ?? '', ...more]);
    expect((await verify('receipt', '--log', agent.auditPath)).stdout).toBe(
      `t1 ${call}: signed, and the log has its lines; pay: succeeded\n`,
    );
    await expect(verify('changed')).rejects.toMatchObject({
      code: 6,
      stderr: `${files['changed']}: the signature does not match: a member was changed\n`,
    });
    await expect(verify('receipt', '--log', files['log'] ?? '')).rejects.toMatchObject({ code: 6 });
  });
});

type LogLine = Record<string, unknown>;

/** Replaces lines of the log, as a program with write access but without the key would. */
function tamper(agent: TestAgent, change: (line: LogLine) => LogLine, rechained: boolean): void {
  let before: string | null = null;
  const lines = readFileSync(agent.auditPath, 'utf8').trimEnd().split('\n');
  const changed = lines.map((text) => {
    const line = change(JSON.parse(text));
    const linked = rechained && before !== null ? { ...line, prev_hash: sha256(before) } : line;
    before = canonicalize(linked) ?? '';
    return `${before}\n`;
  });
  expect(changed.join('')).not.toBe(`${lines.join('\n')}\n`);
  writeFileSync(agent.auditPath, changed.join(''));
}

const only = (name: string, change: (line: LogLine) => LogLine) => (line: LogLine) =>
  line['event'] === name ? change(line) : line;
const byEve = only('task_deferred_decision', (line) => ({
  ...line,
  fields: { ...(line['fields'] as LogLine), approver: 'eve' },
}));
const unsigned = ({ kid: _, sig: __, ...line }: LogLine) => line;

// Over PostgreSQL the database is the log, and the file a copy.
describe.skipIf(isOverPostgres)('a receipt of a log that was changed without its key', () => {
  const unlinked = /line \d+: prev_hash is not the hash of the line before/;
  const unmatched = /the line with the hash [0-9a-f]{64}: sig does not match the line/;
  const missing = /the line with the hash [0-9a-f]{64}: sig is missing/;

  it.each<[string, (line: LogLine) => LogLine, boolean, RegExp]>([
    ['a decision was changed', byEve, false, unlinked],
    ['a decision was changed and the chain rebuilt', byEve, true, unmatched],
    [
      'a decision was moved to another task',
      only('task_deferred_decision', (line) => ({ ...line, task_id: 't2' })),
      false,
      unlinked,
    ],
    [
      'a signature was removed and the chain rebuilt',
      only('task_deferred_decision', ({ sig: _, ...line }) => line),
      true,
      missing,
    ],
    ['the last signature was removed', only('tool_exec', unsigned), true, missing],
  ])('is refused with 409 where %s', async (_, change, rechained, reason) => {
    const { agent, call, path } = await agentWithCall();
    expect((await agent.get(path)).status).toBe(200);
    tamper(agent, change, rechained);
    const { status, body } = await agent.get(path);
    expect([status, body]).toEqual([
      409,
      { error: expect.stringMatching(reason), code: 'audit_broken' },
    ]);
    expect(agent.log.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        fields: { task_id: 't1', call_id: call, reason: expect.stringMatching(reason) },
        message: 'audit: the log is broken, so a receipt was refused',
      },
    ]);
  });

  it('is refused where the start of the log with the requester was cut off', async () => {
    const { agent, path } = await agentWithCall();
    const lines = readFileSync(agent.auditPath, 'utf8').split(/(?<=\n)/);
    const start = lines.findIndex((line) => line.includes('"session_start"'));
    writeFileSync(agent.auditPath, lines.slice(start + 1).join(''));
    expect(await agent.get(path)).toMatchObject({ status: 409, body: { code: 'audit_broken' } });
  });

  it('is refused where every signature was removed', async () => {
    const { agent, path } = await agentWithCall();
    tamper(agent, unsigned, true);
    expect(await agent.get(path)).toMatchObject({
      status: 409,
      body: {
        error:
          'lines of this call are not signed, so it has no receipt: it began before the log was signed',
        code: 'call_not_signed',
      },
    });
  });
});

describe('a missing receipt', () => {
  it('has its reason: no task, no call, or an agent that does not sign', async () => {
    const agent = await startTestAgent({ audit: { sign: true } });
    await agent.send('t1', [{ say: 'hello' }]);
    expect(await agent.get('/tasks/none/calls/x/receipt')).toMatchObject({
      status: 404,
      body: { error: 'task not found', code: 'task_not_found' },
    });
    expect(await agent.get('/tasks/t1/calls/x/receipt')).toMatchObject({
      status: 404,
      body: { error: 'the log of this agent has no such call of the task', code: 'call_not_found' },
    });
    const unsigned = await startTestAgent();
    await unsigned.send('t1', script);
    expect(await unsigned.get('/tasks/t1/calls/x/receipt')).toMatchObject({
      status: 409,
      body: {
        error:
          'this agent does not sign its log, so it has no receipts; set audit.sign: true in service.yaml and restart it',
        code: 'log_not_signed',
      },
    });
  });
});
