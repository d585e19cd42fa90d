import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  keyRotation,
  lastSignedLine,
  openAuditKeys,
  verifyFiles,
} from '../../../../src/actors/records/log/audit.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { events, keyOf } from './log-of.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signed-store-'));
});

afterEach(() => rm(folder, { recursive: true }));

const [first, second] = [1, 2].map((byte) => keyOf(`v${byte}`, Buffer.alloc(32, byte)));
const older = JSON.stringify({ keys: [first!.publicKey] });

/** Signs as a daemon does from its start to its end. */
async function session(key: ReturnType<typeof keyOf>, published: string) {
  const path = join(folder, 'audit.ndjson');
  const pem = key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const keys = openAuditKeys(
    { sign: false, signing: { enabled: true, key_env: 'KEY', kid: key.publicKey.kid } },
    { env: { KEY: pem, SERVICE_AUDIT_VERIFY_KEYS: published }, folder: null },
  );
  const rotation = await keyRotation(await lastSignedLine([path]), keys);
  const audit = { path, chain: true, signer: keys.signer };
  const store = await SqliteStore.open({ path: join(folder, 'tasks.db'), audit });
  const ts = '2026-07-01T09:00:00.000Z';
  if (rotation !== null) await store.record([{ ts, ...rotation }]);
  await Promise.all(events(1_200).map((event) => store.record([event])));
  const held = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'latin1')),
  );
  await store.close();
  const verdict = await verifyFiles([path], { keys: keys.published, requireSigned: true });
  return { rotation, verdict, held: held.join('') };
}

it('a store signs every line, over a key change, and stores the key nowhere', async () => {
  const before = await session(first!, '');
  const after = await session(second!, older);
  expect([before.rotation, after.rotation]).toEqual([
    null,
    { event: 'audit_key_rotated', fields: { old_kid: 'v1', new_kid: 'v2' } },
  ]);
  expect(before.verdict).toMatchObject({ ok: true, events: 1_201, signed: 1_201 });
  expect(after.verdict).toMatchObject({ ok: true, events: 2_403, signed: 2_403 });
  const canaries = [first!, second!].flatMap(({ privateKey }) => {
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const seed = der.subarray(-32);
    return [seed.toString('latin1'), seed.toString('hex'), der.toString('base64').slice(24, 60)];
  });
  const found = canaries.filter((canary) => (before.held + after.held).includes(canary));
  expect(found).toEqual([]);
});
