import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf, testKey } from '../actors/records/log/log-of.ts';
import { cleanUp, type Ended, holdpoint, startDaemon } from '../cli/holdpoint.ts';
import { AgentClient } from '../helpers/agent-client.ts';
import type { AgentFolder } from '../helpers/agent-folder.ts';
import type { TestAgent } from '../helpers/test-agent.ts';
import { startInFolder } from '../helpers/test-agent.ts';
import { outwardFolder } from './egress-agent.ts';

afterAll(cleanUp);

const keysPath = '/.well-known/service-audit-keys';

const first = signingKey('v1', 11);
const second = signingKey('v2', 12);

/** A key in the form in which a variable holds it, and its public part. */
function signingKey(kid: string, byte: number) {
  const { privateKey, publicKey } = keyOf(kid, Buffer.alloc(32, byte));
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { secret, pem, publicKey, env: { SERVICE_AUDIT_SIGNING_KEY: secret } };
}

const signing = (kid: string) => ({ audit: { signing: { enabled: true, kid } } });

/** Gives a stopped agent other settings. */
function configure(folder: AgentFolder, settings: object): void {
  const path = join(folder.path, 'service.yaml');
  const service = JSON.parse(readFileSync(path, 'utf8')) as object;
  writeFileSync(path, JSON.stringify({ ...service, ...settings }));
}

/** Runs the agent of a folder for the time of one task, and resolves with what its route published. */
async function runOnce(folder: AgentFolder, env: NodeJS.ProcessEnv, id: string): Promise<string> {
  const agent = await startInFolder(folder, env);
  expect((await agent.send(id, [{ tool: 'echo' }, { say: 'hi' }])).status).toBe(200);
  const keys = await publishedBy(agent);
  await agent.stop();
  return keys;
}

/** The published keys as text, for a caller without a token. */
async function publishedBy({ url }: Pick<TestAgent, 'url'>): Promise<string> {
  const answer = await fetch(url + keysPath);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Runs `audit verify` over the log of an agent with these keys. */
function verify(folder: AgentFolder, keys: string, ...options: string[]): Promise<Ended> {
  const file = join(folder.path, 'keys.json');
  writeFileSync(file, keys);
  const log = join(folder.path, '.service/audit.ndjson');
  return holdpoint(['audit', 'verify', '--keys', file, ...options, log]);
}

function linesOf(folder: AgentFolder): any[] {
  const text = readFileSync(join(folder.path, '.service/audit.ndjson'), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe('a daemon that signs', () => {
  it('signs every line from the first, and the keys it publishes prove it', async () => {
    const auth = {
      required: true,
      providers: [{ type: 'static_token', name: 'ops', settings: { token: 'secret' } }],
    };
    const folder = outwardFolder({ ...signing('v1'), auth });
    const agent = await startInFolder(folder, first.env);
    expect((await agent.as('secret').send('t', [{ tool: 'echo' }, { say: 'hi' }])).status).toBe(
      200,
    );
    expect((await agent.send('u', [])).status).toBe(401);
    const keys = await publishedBy(agent);
    await agent.stop();
    expect(JSON.parse(keys)).toEqual({ keys: [first.publicKey] });
    const lines = linesOf(folder);
    expect(lines.length).toBeGreaterThan(6);
    expect(lines.map(({ kid, sig }) => [kid, /^[A-Za-z0-9+/]{86}==$/.test(sig)])).toEqual(
      lines.map(() => ['v1', true]),
    );
    expect(await verify(folder, keys, '--require-signed')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        `${lines.length} events, chain intact, ${lines.length} signed\n`,
      ),
      stderr: '',
    });
  });

  it('detects an edited line, and one with a foreign signature', async () => {
    const folder = outwardFolder(signing('v1'));
    const keys = await runOnce(folder, first.env, 't');
    const path = join(folder.path, '.service/audit.ndjson');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"state":"completed"', '"state":"canceled"'));
    const edited = await verify(folder, keys, '--require-signed');
    expect(edited.code).toBe(6);
    expect(edited.stderr).toContain('(session_end, seq 7): sig does not match the line;');
    writeFileSync(path, text);
    const forged = JSON.stringify({ keys: [testKey('v1', 13).publicKey] });
    const other = await verify(folder, forged, '--require-signed');
    expect(other.code).toBe(6);
    expect(other.stderr).toContain(':1 (policy_loaded): sig does not match the line;');
  });
});

describe('a signing key', () => {
  it('is changed over a restart: the log records it, and the old one stays published', async () => {
    const folder = outwardFolder(signing('v1'));
    const before = await runOnce(folder, first.env, 'before');
    const old = linesOf(folder).length;
    configure(folder, signing('v2'));
    const env = { ...second.env, SERVICE_AUDIT_VERIFY_KEYS: before };
    const after = await runOnce(folder, env, 'after');
    expect(JSON.parse(after)).toEqual({ keys: [second.publicKey, first.publicKey] });
    const lines = linesOf(folder);
    expect(lines.map(({ kid }) => kid)).toEqual(lines.map((_, at) => (at < old ? 'v1' : 'v2')));
    const rotations = lines.filter(({ event }) => event === 'audit_key_rotated');
    expect(rotations.map(({ fields }) => fields)).toEqual([{ old_kid: 'v1', new_kid: 'v2' }]);
    expect(lines[old].event).toBe('audit_key_rotated');
    expect((await verify(folder, after, '--require-signed')).code).toBe(0);
    const unknown = await verify(folder, before, '--require-signed');
    expect([unknown.code, unknown.stderr]).toEqual([
      6,
      expect.stringContaining(`:${old + 1} (audit_key_rotated): kid is not one of the keys;`),
    ]);
    // The next start has nothing new to say.
    await runOnce(folder, env, 'again');
    expect(linesOf(folder).filter(({ event }) => event === 'audit_key_rotated')).toHaveLength(1);
  });

  it('may be added to an unsigned log, and removed', async () => {
    const folder = outwardFolder();
    const none = await runOnce(folder, {}, 'unsigned');
    expect(JSON.parse(none)).toEqual({ keys: [] });
    const unsigned = linesOf(folder).length;
    configure(folder, signing('v1'));
    const keys = await runOnce(folder, first.env, 'signed');
    const signed = linesOf(folder).length - unsigned;
    expect(await verify(folder, keys)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        `${unsigned + signed} events, chain intact, ${signed} signed\n`,
      ),
      stderr: `warning: ${unsigned} of ${unsigned + signed} events are not signed; --require-signed refuses them\n`,
    });
    expect(await verify(folder, keys, '--require-signed')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(':1 (policy_loaded): sig is missing;'),
    });
    configure(folder, { audit: {} });
    const env = { SERVICE_AUDIT_VERIFY_KEYS: keys };
    expect(JSON.parse(await runOnce(folder, env, 'off'))).toEqual({ keys: [first.publicKey] });
    expect((await verify(folder, keys)).code).toBe(0);
    expect(linesOf(folder).filter(({ event }) => event === 'audit_key_rotated')).toEqual([]);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'signed the log under the same name',
      second.env,
      'the log was signed with another key under the kid "v1", or was changed; give a new key a new audit.signing.kid',
    ],
    [
      'is published under the same name',
      {
        ...first.env,
        SERVICE_AUDIT_VERIFY_KEYS: JSON.stringify({ keys: [testKey('v1', 14).publicKey] }),
      },
      'SERVICE_AUDIT_VERIFY_KEYS holds another key with the kid "v1"; give the new key a new kid',
    ],
  ])('is refused at the start when another one %s', async (_, env, sentence) => {
    const folder = outwardFolder(signing('v1'));
    await runOnce(folder, first.env, 't');
    const log = readFileSync(join(folder.path, '.service/audit.ndjson'), 'utf8');
    const refused = await holdpoint(['run', '--dir', folder.path, '--port', '0'], { env });
    expect([refused.code, refused.stdout]).toEqual([5, '']);
    expect(refused.stderr).toContain(sentence);
    expect(refused.stderr).not.toContain(second.secret);
    expect(readFileSync(join(folder.path, '.service/audit.ndjson'), 'utf8')).toBe(log);
  });

  it.each<[string, Record<string, string>]>([
    ['is missing', {}],
    ['is none', { SERVICE_AUDIT_SIGNING_KEY: first.secret.slice(0, 40) }],
  ])('is refused at the start when it %s', async (_, env) => {
    const folder = outwardFolder(signing('v1'));
    const refused = await holdpoint(['run', '--dir', folder.path, '--port', '0'], { env });
    expect([refused.code, refused.stdout]).toEqual([5, '']);
    expect(refused.stderr).toContain('the environment variable SERVICE_AUDIT_SIGNING_KEY ');
    expect(refused.stderr).not.toContain(first.secret.slice(0, 40));
  });
});

describe('the private key', () => {
  it.each([
    ['base64', first.secret],
    ['PEM', first.pem],
  ])('in %s is never shown', async (_, value) => {
    const folder = outwardFolder(signing('v1'), { 'dump.sh': 'env\n' });
    const env = { SERVICE_AUDIT_SIGNING_KEY: value };
    const daemon = await startDaemon(folder.path, { env });
    const client = new AgentClient(daemon.url, null);
    const seen: unknown[] = [
      await client.send('t', [{ tool: 'dump' }, { say: '{result}' }]),
      await client.send('broken', [{ tool: 'ghost' }]),
      await client.get('/metrics'),
      await client.get(keysPath),
      await client.get('/tasks/none'),
      await client.post('/tasks/send', '{'),
      await client.rpc('tasks/destroy', {}),
      await holdpoint(['audit', 'keys', '--dir', folder.path], { env }),
      await holdpoint(['audit', 'keys', '--url', daemon.url]),
      await holdpoint(['validate', '--dir', folder.path, '--json'], { env }),
    ];
    const { code, stdout, stderr } = await daemon.stop();
    expect(code).toBe(0);
    seen.push(stdout, stderr, readFileSync(join(folder.path, '.service/audit.ndjson'), 'utf8'));
    const everything = JSON.stringify(seen);
    expect(everything).toContain(first.publicKey.x);
    const seed = Buffer.alloc(32, 11);
    const secrets = [first.secret, seed.toString('hex'), seed.toString('base64').slice(0, 42)];
    expect(secrets.filter((secret) => everything.includes(secret))).toEqual([]);
  });
});
