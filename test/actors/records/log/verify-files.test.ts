import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AuditLogError,
  chainLine,
  GENESIS,
  readPublicKeys,
  readSigningKey,
  verdictSentence,
  verifyFiles,
} from '../../../../src/actors/records/log/audit.ts';
import { checkpointedLog, events, logOf, testKey } from './log-of.ts';

const verifier = join(import.meta.dirname, 'verify.py');
const page = join(import.meta.dirname, '../../../../docs/audit-log.md');

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-verify-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function written(...contents: string[]): Promise<string[]> {
  const paths = contents.map((_, index) => join(folder, `audit-${index + 1}.ndjson`));
  await Promise.all(paths.map((path, index) => writeFile(path, contents[index]!)));
  return paths;
}

function python(paths: string[]): Promise<{ code: unknown; stdout: string }> {
  return new Promise((resolve) => {
    execFile('python3', [verifier, ...paths], (error, stdout) => {
      resolve({ code: error === null ? 0 : error.code, stdout: stdout.trimEnd() });
    });
  });
}

describe('verifyFiles', () => {
  it('follows a log over its files', async () => {
    const { lines, head } = checkpointedLog(2000);
    const paths = await written(lines.slice(0, 900).join(''), '', lines.slice(900).join(''));
    const verdict = await verifyFiles(paths);
    const checkpoint = { count: 2000, after: 0 };
    expect(verdict).toStrictEqual({ ok: true, events: 2001, signed: 0, head, checkpoint });
    expect(verdictSentence(verdict)).toBe('2001 events, chain intact, 0 signed');
  });

  it('names the wrong file and line', async () => {
    const { lines } = logOf(events(4));
    const [first, second] = await written(lines.slice(0, 2).join(''), lines[3]!);
    const verdict = await verifyFiles([first!, second!]);
    expect(verdict).toMatchObject({ ok: false, file: second, line: 1, seq: 4 });
  });

  it('names the unreadable file', async () => {
    const path = join(folder, 'missing.ndjson');
    const error = await verifyFiles([path]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AuditLogError);
    expect(error).toMatchObject({ code: 'audit_log_unreadable', path });
    expect((error as Error).message).toMatch(
      /^The audit log .*missing\.ndjson cannot be read: ENOENT.*\. Check the path and its permissions\.$/,
    );
  });
});

describe('a log that cannot be read', () => {
  it('has the reason in its message and as its cause, of any type', () => {
    const cause = new Error('EIO: i/o error');
    const errors = [new AuditLogError('a.ndjson', cause), new AuditLogError('b.ndjson', 'gone')];
    expect(errors.map((error) => [error.path, error.message, error.cause])).toEqual([
      [
        'a.ndjson',
        'The audit log a.ndjson cannot be read: EIO: i/o error. Check the path and its permissions.',
        cause,
      ],
      [
        'b.ndjson',
        'The audit log b.ndjson cannot be read: gone. Check the path and its permissions.',
        'gone',
      ],
    ]);
  });
});

describe('the verifier written from the page', () => {
  it('has the same verdict on an intact log', async () => {
    const { lines } = checkpointedLog(40);
    const more = logOf(events(1), checkpointedLog(40).head, testKey('k', 1).signer).lines;
    const paths = await written(lines.join(''), more.join(''));
    const sentence = verdictSentence(await verifyFiles(paths));
    expect(sentence).toBe('42 events, chain intact, 1 signed');
    expect(await python(paths)).toStrictEqual({ code: 0, stdout: sentence });
  });

  it('has the same verdict on hostile texts', async () => {
    const fields = { note: '\u2028\u2029\u0085\r\n\u001b[2J\ud800🧾', ['\ufeff']: Number.NaN };
    const { lines } = logOf([{ event: 'x', ts: '2026-07-01T09:00:00.000Z', fields }, ...events(2)]);
    const paths = await written(lines.join(''));
    expect(await python(paths)).toStrictEqual({
      code: 0,
      stdout: '3 events, chain intact, 0 signed',
    });
  });

  it.each<[string, (lines: string[]) => string[], number]>([
    ['an edit', (lines) => lines.with(3, lines[3]!.replace('"n":3', '"n":9')), 5],
    ['a deletion', (lines) => lines.toSpliced(3, 1), 4],
    ['a repetition', (lines) => lines.toSpliced(3, 0, lines[3]!), 5],
    ['a lost head', (lines) => lines.slice(1), 1],
    ['a torn end', (lines) => lines.with(-1, lines.at(-1)!.trimEnd()), 9],
    ['an edited checkpoint', (lines) => lines.with(-1, lines.at(-1)!.replace('":8', '":7')), 9],
    ['nonsense', (lines) => lines.with(3, 'nonsense\n'), 4],
  ])('finds %s at the same line', async (_, tamper, line) => {
    const paths = await written(tamper(checkpointedLog(8).lines).join(''));
    expect(await verifyFiles(paths)).toMatchObject({ ok: false, line });
    const { code, stdout } = await python(paths);
    expect(code).toBe(6);
    expect(stdout).toMatch(new RegExp(`^${paths[0]}:${line}: `));
  });
});

describe('the test vectors of docs/audit-log.md', () => {
  async function vectors(): Promise<{ lines: string[]; hashes: string[]; log: string }> {
    const text = await readFile(page, 'utf8');
    const log = /## Test vectors.*?```ndjson\n(.*?)```/s.exec(text)![1]!;
    const hashes = Array.from(
      text.matchAll(/^\| \d+ \| `([0-9a-f]{64})` \|$/gm),
      ([, hash]) => hash!,
    );
    return { lines: log.split('\n').slice(0, -1), hashes, log };
  }

  async function signedVectors() {
    const text = await readFile(page, 'utf8');
    const shape = /### Signed.*?```ndjson\n(.*?)```.*?is `([^`]+)`.*?```json\n(.*?)\n```/s;
    const [, log, key, jwks] = shape.exec(text)!;
    return { log: log!, lines: log!.split('\n').slice(0, -1), key: key!, jwks: jwks! };
  }

  it('verify here and with the independent verifier', async () => {
    const { log, hashes } = await vectors();
    const paths = await written(log);
    expect(await verifyFiles(paths)).toStrictEqual({
      ok: true,
      events: 5,
      signed: 0,
      head: hashes.at(-1),
      checkpoint: { count: 4, after: 0 },
    });
    expect(await python(paths)).toStrictEqual({
      code: 0,
      stdout: '5 events, chain intact, 0 signed',
    });
  });

  it('match the lines of their events', async () => {
    const { lines, hashes } = await vectors();
    const made = lines.map((line, index) => {
      const { prev_hash: _, ...event } = JSON.parse(line);
      return chainLine(event, hashes[index - 1] ?? GENESIS);
    });
    expect(made).toStrictEqual(lines.map((line, index) => ({ line, hash: hashes[index] })));
  });

  it('verify with their signatures, here and with the independent verifier', async () => {
    const { log, jwks } = await signedVectors();
    const [path, keys] = await written(log, jwks);
    const options = { keys: readPublicKeys(jwks), requireSigned: true };
    expect(await verifyFiles([path!], options)).toMatchObject({ ok: true, events: 3, signed: 3 });
    expect(await python(['--keys', keys!, path!])).toStrictEqual({
      code: 0,
      stdout: '3 events, chain intact, 3 signed',
    });
  });

  it('match the signed lines of their events, with their key', async () => {
    const { lines, key, jwks } = await signedVectors();
    const settings = { key_env: 'KEY', kid: 'service-audit-v1' };
    const { signer, publicKey } = readSigningKey({ KEY: key }, settings);
    const made = lines.map((line) => {
      const { prev_hash: link, ...event } = JSON.parse(line);
      return chainLine(event, link, signer).line;
    });
    expect(made).toStrictEqual(lines);
    expect(JSON.parse(jwks)).toStrictEqual({ keys: [publicKey] });
  });

  it.each<[string, (line: string) => string, string]>([
    ['an edit', (line) => line.replace('ann@', 'eve@'), 'sig does not match the line'],
    [
      'a signature of zeros',
      (line) => withSignature(line, Buffer.alloc(64)),
      'sig does not match the line',
    ],
    [
      'a scalar that is too large',
      (line) => withSignature(line, Buffer.alloc(64, 0xff)),
      'sig does not match the line',
    ],
    ['another key', (line) => line.replace('audit-v1', 'audit-v2'), 'kid is not one of the keys'],
    ['a lost signature', (line) => line.replace(/"sig":"[^"]+",/, ''), 'sig is missing'],
  ])('are refused by each verifier with %s', async (_, tamper, reason) => {
    const { lines, jwks } = await signedVectors();
    const changed = lines.with(1, tamper(lines[1]!)).join('\n');
    const [path, keys] = await written(`${changed}\n`, jwks);
    const verdict = await verifyFiles([path!], { keys: readPublicKeys(jwks) });
    expect(verdict).toMatchObject({ ok: false, line: 2, reason });
    expect(await python(['--keys', keys!, path!])).toStrictEqual({
      code: 6,
      stdout: `${path}:2: ${reason}`,
    });
  });

  function withSignature(line: string, signature: Buffer): string {
    return line.replace(/"sig":"[^"]+"/, `"sig":"${signature.toString('base64')}"`);
  }
});
