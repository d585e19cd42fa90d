import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointedLog, events, keyOf, logOf, testKey } from '../actors/records/log/log-of.ts';
import { holdpointHere } from './command-here.ts';
import { cleanUp, refundAgent, temporaryFolder } from './holdpoint.ts';

const own = testKey('service-audit-v1', 1);
const { lines, head } = checkpointedLog(5, own.signer);
const jwks = JSON.stringify({ keys: [own.publicKey] });

let folder: string;
let log: string;
let keys: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  log = await file('audit.ndjson', lines.join(''));
  keys = await file('keys.json', jwks);
});

afterAll(cleanUp);

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe.concurrent('audit verify of a signed log', () => {
  it('checks every signature', async () => {
    const command = ['audit', 'verify', '--keys', keys, '--require-signed', log];
    const [plain, json] = await Promise.all([
      holdpointHere(command),
      holdpointHere([...command, '--json']),
    ]);
    expect(plain).toEqual({
      code: 0,
      signal: null,
      stdout: '6 events, chain intact, 6 signed\ncomplete up to checkpoint 5, 0 events after it\n',
      stderr: '',
    });
    expect(JSON.parse(json.stdout)).toEqual({
      ok: true,
      events: 6,
      signed: 6,
      head,
      checkpoint: { count: 5, after: 0 },
      checked: 6,
    });
  });

  it('reads the keys from an address', async () => {
    const server = createServer((_, response) => response.end(jwks));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/.well-known/service-audit-keys`;
    const verified = await holdpointHere(['audit', 'verify', '--keys', url, log, '--json']);
    const printed = await holdpointHere([
      'audit',
      'keys',
      '--url',
      `http://127.0.0.1:${port}`,
      '--json',
    ]);
    await new Promise((resolve) => server.close(resolve));
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, checked: 6 });
    expect(JSON.parse(printed.stdout)).toEqual({ keys: [own.publicKey] });
    const gone = await holdpointHere(['audit', 'verify', '--keys', url, log]);
    expect(gone).toMatchObject({ code: 3, stdout: '' });
    expect(gone.stderr).toContain(`error: the keys of ${url} cannot be read: `);
  });

  it('counts signatures and warns when it has no keys', async () => {
    expect(await holdpointHere(['audit', 'verify', log])).toEqual({
      code: 0,
      signal: null,
      stdout: '6 events, chain intact, 6 signed\ncomplete up to checkpoint 5, 0 events after it\n',
      stderr: 'warning: signatures were not checked; give the public keys with --keys\n',
    });
  });

  it('does not accept unchecked signatures as a proof', async () => {
    const { code, stdout, stderr } = await holdpointHere([
      'audit',
      'verify',
      log,
      '--require-signed',
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: --require-signed needs --keys: /);
  });

  it('warns of unsigned lines among signed ones', async () => {
    const unsigned = logOf(events(2));
    const signed = logOf(events(1), unsigned.head, own.signer);
    const mixed = await file('mixed.ndjson', [...unsigned.lines, ...signed.lines].join(''));
    const { code, stderr } = await holdpointHere(['audit', 'verify', '--keys', keys, mixed]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'warning: 2 of 3 events are not signed; --require-signed refuses them\n',
    });
  });

  it('refuses a log without any signature, since all could have been removed', async () => {
    const stripped = await file('stripped.ndjson', checkpointedLog(2).lines.join(''));
    const { code, stdout, stderr } = await holdpointHere([
      ...['audit', 'verify', '--keys', keys, stripped],
    ]);
    expect({ code, stdout, stderr }).toEqual({
      code: 6,
      stdout: '',
      stderr:
        'error: none of the 3 events is signed, although keys were given; leave --keys out for a log that was never signed; otherwise compare it with a copy\n',
    });
  });

  it.each<[string, (all: string[]) => string[], string]>([
    [
      'an edit',
      (all) => all.with(1, all[1]!.replace('"n":1', '"n":7')),
      ':2 (tool_exec, seq 2): sig does not match the line;',
    ],
    [
      'an unknown key',
      (all) => all.with(1, all[1]!.replace('audit-v1', 'audit-v9')),
      ':2 (tool_exec, seq 2): kid is not one of the keys;',
    ],
    [
      'a missing signature',
      (all) => all.with(1, all[1]!.replace(/"sig":"[^"]+",/, '')),
      ':2 (tool_exec, seq 2): sig is missing;',
    ],
  ])('exits with 6 at the line of %s', async (name, tamper, where) => {
    const path = await file(`${name.replaceAll(' ', '-')}.ndjson`, tamper(lines).join(''));
    const { code, stdout, stderr } = await holdpointHere(['audit', 'verify', '--keys', keys, path]);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain(`error: ${path}${where}`);
  });

  it('detects a cut end with a stored checkpoint, as text or as a line', async () => {
    const cut = await file('cut.ndjson', lines.slice(0, 3).join(''));
    const kept = await file('kept.ndjson', lines.at(-1)!);
    const point = `5:${JSON.parse(lines[5]!).prev_hash}`;
    const verify = (path: string, checkpoint: string) =>
      holdpointHere(['audit', 'verify', '--keys', keys, '--checkpoint', checkpoint, path]);
    const [ofFile, ofText, whole, none] = await Promise.all([
      verify(cut, kept),
      verify(cut, point),
      verify(log, kept),
      verify(log, keys),
    ]);
    for (const { code, stderr } of [ofFile, ofText]) {
      expect(code).toBe(6);
      expect(stderr).toContain(`error: ${cut}:4: the log ends before the kept checkpoint; `);
    }
    expect(whole.code).toBe(0);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('no line of it is a checkpoint');
  });

  it('continues a log from a hash, and refuses that with --require-genesis', async () => {
    const rest = await file('rest.ndjson', lines.slice(2).join(''));
    const from = JSON.parse(lines[2]!).prev_hash as string;
    const verify = (...options: string[]) => holdpointHere(['audit', 'verify', rest, ...options]);
    const [continued, genesis, both, plain, wrong] = await Promise.all([
      verify('--continued-from', from, '--keys', keys),
      verify('--require-genesis'),
      verify('--require-genesis', '--continued-from', from),
      verify(),
      verify('--continued-from', 'xyz'),
    ]);
    expect(continued).toMatchObject({
      code: 0,
      stdout: '4 events, chain intact, 4 signed\ncomplete up to checkpoint 5, 0 events after it\n',
    });
    expect([genesis.code, both.code, plain.code, wrong.code]).toEqual([6, 2, 6, 2]);
  });

  it('lists every bad line with --all', async () => {
    const changed = lines.toSpliced(1, 1).with(3, 'nonsense\n');
    const path = await file('many.ndjson', changed.join(''));
    const command = ['audit', 'verify', '--all', '--keys', keys, path];
    const [plain, json] = await Promise.all([
      holdpointHere(command),
      holdpointHere([...command, '--json']),
    ]);
    expect(plain.code).toBe(6);
    expect(plain.stderr).toMatch(/^error: 3 lines are bad, the first of them /m);
    const found = JSON.parse(json.stdout) as { count: number; breaks: { line: number }[] };
    expect([found.count, found.breaks.map(({ line }) => line)]).toEqual([3, [2, 4, 5]]);
  });

  it.each<[string, string, number, string]>([
    ['nothing', '', 3, 'cannot be read: ENOENT'],
    ['no JSON', 'nonsense', 5, 'cannot be used: it is not valid JSON'],
    ['another curve', jwks.replace('Ed25519', 'X25519'), 5, 'is not an Ed25519 key'],
    ['a short key', jwks.replace(/"x":".{9}/, '"x":"'), 5, 'has no usable "x"'],
  ])('reports keys that are %s', async (name, text, code, message) => {
    const path = join(folder, `keys-${name.replaceAll(' ', '-')}.json`);
    if (text !== '') await writeFile(path, text);
    const failed = await holdpointHere(['audit', 'verify', '--keys', path, log]);
    expect(failed).toMatchObject({ code, stdout: '' });
    expect(failed.stderr).toContain(`error: the keys of ${path} `);
    expect(failed.stderr).toContain(message);
  });
});

describe.concurrent('key generate', () => {
  it('prints a signing key as a line of an environment file', async () => {
    const { code, stdout, stderr } = await holdpointHere(['key', 'generate']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^SERVICE_AUDIT_SIGNING_KEY=[A-Za-z0-9+/]{64}\n$/),
    });
    expect(stderr).not.toContain(stdout.split('=')[1]!.trim());
    const [name, value] = stdout.trimEnd().split(/=(.*)/s);
    const agent = await refundAgent('agent_id: refunds\naudit: {signing: {enabled: true}}\n');
    const printed = await holdpointHere(['audit', 'keys', '--dir', agent], {
      env: { [name!]: value! },
    });
    const { keys: published } = JSON.parse(printed.stdout);
    expect(published).toEqual([
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: expect.stringMatching(/^[\w-]{43}$/),
        kid: 'service-audit-v1',
        use: 'sig',
        alg: 'EdDSA',
      },
    ]);
  });

  it('writes a new file that only its owner can read, and prints only the public key', async () => {
    const out = join(folder, 'audit.pem');
    const command = ['key', 'generate', '--kid', 'v2', '--out', out, '--json'];
    const { code, stdout, stderr } = await holdpointHere(command);
    const pem = await readFile(out, 'utf8');
    expect(code).toBe(0);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n[^-]+\n-----END PRIVATE KEY-----\n$/);
    const secret = pem.split('\n')[1]!;
    expect(stdout + stderr).not.toContain(secret);
    expect(JSON.parse(stdout)).toEqual({
      kid: 'v2',
      path: out,
      keys: [expect.objectContaining({ kid: 'v2', crv: 'Ed25519' })],
    });
    const again = await holdpointHere(command);
    expect(again.code).toBe(2);
    expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: 'key_not_written' } });
    expect(await readFile(out, 'utf8')).toBe(pem);
  });

  it('generates another key each time', async () => {
    const made = await Promise.all([1, 2].map(() => holdpointHere(['key', 'generate', '--json'])));
    const [one, two] = made.map(({ stdout }) => JSON.parse(stdout));
    expect(one.private_key).not.toBe(two.private_key);
    expect(one.keys[0].x).not.toBe(two.keys[0].x);
  });
});

describe.concurrent('validate', () => {
  const service = 'agent_id: refunds\naudit:\n  signing:\n    enabled: true\n    key_env: MY_KEY\n';
  const { privateKey } = keyOf('k', Buffer.alloc(32, 5));
  const der = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');

  it('reports the fault of a key at key_env, without the key', async () => {
    const agent = await refundAgent(service);
    const validate = (value: string) =>
      holdpointHere(['validate', '--dir', agent], { env: { MY_KEY: value } });
    const [unset, short, right] = await Promise.all([
      validate(''),
      validate(der.slice(0, 40)),
      validate(der),
    ]);
    expect(unset.code).toBe(5);
    expect(unset.stderr).toContain(
      'service.yaml:5:14: the environment variable MY_KEY is not set; ',
    );
    expect(short.code).toBe(5);
    expect(short.stderr).toContain(
      'service.yaml:5:14: the environment variable MY_KEY holds no key; ',
    );
    expect(short.stdout + short.stderr).not.toContain(der.slice(0, 40));
    expect(right.code).toBe(0);
  });
});
