import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainLine } from '../../../../src/actors/records/log/chain-line.ts';
import { nodeKeyRing, sha256Hex } from '../../../../src/actors/records/log/node-crypto.ts';
import {
  type HashedLine,
  receiptClaims,
} from '../../../../src/actors/records/log/receipt-claims.ts';
import { signReceipt } from '../../../../src/actors/records/log/sign-receipt.ts';
import {
  citedHashes,
  verifyCited,
  verifyReceipt,
  verifyReceipts,
} from '../../../../src/actors/records/log/verify-receipt.ts';
import { webKeyRing } from '../../../../src/actors/records/log/web-crypto.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';
import { keyOf, testKey, vectorSeed } from './log-of.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/audit-log.md'), 'utf8');
const [, log = '', receipt = ''] =
  /### A receipt\n.*?```ndjson\n(.*?)```.*?```text\n(\S+)\n```/s.exec(page) ?? [];
const own = keyOf('service-audit-v1', Buffer.from(vectorSeed, 'hex'));
const keys = nodeKeyRing({ keys: [own.publicKey] });

const hashed = (text: string): HashedLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ line: JSON.parse(line), sha256: sha256Hex(Buffer.from(line)) }));
const lines = hashed(log);

async function claimsOf(text: string): Promise<JsonObject> {
  const verdict = await verifyReceipt(text, keys);
  if (!verdict.ok) throw new Error(verdict.reason);
  return verdict.claims;
}

const byHash = (some: readonly HashedLine[]) =>
  new Map(some.map(({ line, sha256 }) => [sha256, line]));

/** The path of each member and item in a value. */
function* placesIn(value: JsonValue): Generator<string[]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield [name];
    for (const rest of placesIn(member)) yield [name, ...rest];
  }
}

/** A copy with another value at a place, or without one for `undefined`. */
function changedAt(claims: JsonObject, place: string[], value: JsonValue | undefined): JsonObject {
  const copy = structuredClone(claims);
  const parents = place.slice(0, -1);
  const parent = parents.reduce<any>((object, name) => object[name], copy);
  const name = place.at(-1) ?? '';
  if (value !== undefined) parent[name] = value;
  else if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
  return copy;
}

/** The receipt with a string of its claims replaced. */
function edited(from: string, to: string): string {
  const [header, claims = '', signature] = receipt.split('.');
  const text = Buffer.from(claims, 'base64url').toString();
  expect(text).toContain(from);
  return [header, Buffer.from(text.replace(from, to)).toString('base64url'), signature].join('.');
}

describe('the receipt of docs/audit-log.md', () => {
  it('is what its lines produce, signed with the key of that page', async () => {
    const claims = receiptClaims(lines, 'c-1');
    const issued = { ...(claims as JsonObject), issued_at: '2026-07-01T09:00:10.000Z' };
    expect(signReceipt(issued, own.signer)).toBe(receipt);
    expect(await claimsOf(receipt)).toEqual(issued);
    expect(await verifyCited(issued, byHash(lines), keys)).toBeNull();
    expect(issued).toMatchObject({
      requester: { user_id: 'u-7', email: 'rita@example.com', provider: 'sso' },
      decisions: [{ approver: 'ann@example.com', method: 'token', at: '2026-07-01T09:00:09.120Z' }],
      ran: { started_at: '2026-07-01T09:00:09.130Z', outcome: 'succeeded' },
    });
  });
});

describe('a receipt', () => {
  it('is refused after any change or removal of a member, at any depth, with the same text in a browser', async () => {
    const claims = await claimsOf(receipt);
    const [header, , signature] = receipt.split('.');
    const ring = await webKeyRing({ keys: [own.publicKey] });
    const places = [...placesIn(claims)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.option(fc.jsonValue(), { nil: undefined }),
        async (place, value) => {
          const changed = changedAt(claims, place, value as JsonValue | undefined);
          fc.pre(canonicalize(changed) !== canonicalize(claims));
          const part = Buffer.from(canonicalize(changed) ?? '').toString('base64url');
          const forged = [header, part, signature].join('.');
          const found = async () => byHash(lines);
          const reason = (text: string) => [{ ok: false, reason: text }];
          const unsigned = reason('the signature does not match: a member was changed');
          expect(await verifyReceipts([forged], { keys, findLines: found })).toEqual(unsigned);
          expect(await verifyReceipts([forged], { keys: ring, findLines: found })).toEqual(
            unsigned,
          );
          // The owner of the key cannot change a member either, because the lines of the log state it.
          fc.pre(!['issued_at', 'version'].includes(String(place[0])));
          const [verdict] = await verifyReceipts([signReceipt(changed, own.signer)], {
            keys,
            findLines: found,
          });
          expect(verdict?.ok).toBe(false);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ['ann@example.com', 'eve@example.com'],
    ['"outcome":"succeeded"', '"outcome":"failed"'],
    ['"issued_at":"2026', '"issued_at":"2025'],
    ['"seq":4', '"seq":5'],
  ])('is refused after %s became %s', async (from, to) => {
    expect(await verifyReceipt(edited(from, to), keys)).toEqual({
      ok: false,
      reason: 'the signature does not match: a member was changed',
    });
  });

  it('is refused under a foreign key, also one with the same name', async () => {
    const foreign = testKey('service-audit-v1', 7);
    const claims = await claimsOf(receipt);
    expect(await verifyReceipt(signReceipt(claims, foreign.signer), keys)).toMatchObject({
      ok: false,
    });
    expect(await verifyReceipt(signReceipt(claims, testKey('x', 7).signer), keys)).toEqual({
      ok: false,
      reason: 'kid "x" is not one of the keys',
    });
  });

  it.each([
    ['nothing', ''],
    ['two parts', receipt.split('.').slice(0, 2).join('.')],
    ['four parts', `${receipt}.x`],
    ['another text', 'a.b.c'],
    ['a line of the log', log.split('\n')[0] ?? ''],
  ])('is not %s', async (_, text) => {
    expect(await verifyReceipt(text, keys)).toEqual({
      ok: false,
      reason: 'it is not a receipt: a compact JWS with a JSON header and JSON claims',
    });
  });

  it.each([
    { alg: 'none', kid: 'service-audit-v1', typ: 'holdpoint-receipt+jws' },
    { alg: 'EdDSA', kid: 'service-audit-v1', typ: 'JWT' },
  ])('is refused as a token with the header %o', async (header) => {
    const part = Buffer.from(JSON.stringify(header)).toString('base64url');
    const text = [part, ...receipt.split('.').slice(1)].join('.');
    expect(await verifyReceipt(text, keys)).toMatchObject({
      reason: 'its header is not that of a receipt (alg EdDSA, typ holdpoint-receipt+jws, kid)',
    });
  });

  it('is refused with a signature in another encoding', async () => {
    const padded = await verifyReceipt(`${receipt}=`, keys);
    expect(padded).toMatchObject({ ok: false });
  });

  it('of another version is refused', async () => {
    const text = signReceipt({ ...(await claimsOf(receipt)), version: 1 }, own.signer);
    expect(await verifyReceipt(text, keys)).toMatchObject({
      reason: 'its version is not 2; a newer release can read it',
    });
  });

  it('is refused when the log lacks one of its lines, or its lines state something else', async () => {
    const claims = await claimsOf(receipt);
    const [, , , decision] = lines;
    const others = lines.filter((line) => line !== decision);
    expect(await verifyCited(claims, byHash(others), keys)).toBe(
      `the log has no line with the hash ${decision?.sha256}`,
    );
    const lying = { ...claims, requester: { user_id: 'eve' } };
    expect(await verifyCited(lying, byHash(lines), keys)).toBe(
      'it states something else than its lines of the log',
    );
    const unknown = nodeKeyRing({ keys: [testKey('x', 1).publicKey] });
    expect(await verifyCited(claims, byHash(lines), unknown)).toBe(
      `the line with the hash ${citedHashes(claims)[0]}: kid is not one of the keys`,
    );
  });
});

describe('the claims of a call', () => {
  const start = { event: 'session_start' };
  const over = { event: 'session_end', fields: { state: 'failed' } };
  const ruled = (decision: string) => ({ event: 'call_ruled', fields: { call_id: 'c', decision } });
  const event = (name: string, fields = {}) => ({
    event: name,
    fields: { call_id: 'c', ...fields },
  });
  const began = event('tool_exec', { phase: 'start' });
  const ended = (outcome: string, error?: string) =>
    event('tool_exec', { phase: 'end', outcome, ...(error === undefined ? {} : { error }) });

  function claims(...events: { event: string; fields?: JsonObject }[]) {
    const made = events.map((one, index) => {
      const { line } = chainLine({ ts: '2026-07-01T09:00:00.000Z', seq: index + 1, ...one }, null);
      return { line: JSON.parse(line), sha256: sha256Hex(Buffer.from(line)) };
    });
    return receiptClaims(made, 'c');
  }

  it.each([
    ['no line', [start, over], 'unknown'],
    ['a waiting call', [start, ruled('defer'), event('task_deferred')], 'underWay'],
    ['a running call', [start, ruled('allow'), began], 'underWay'],
    [
      'a call with a refused rejection',
      [ruled('defer'), event('task_deferred_decision', { decision: 'reject', authorized: false })],
      'underWay',
    ],
  ])('are empty for %s', (_, events, expected) => {
    expect(claims(...events)).toBe(expected);
  });

  it.each([
    ['that was denied', [ruled('deny')], null],
    ['that needs a sign-in', [ruled('step_up')], null],
    ['that timed out', [ruled('defer'), event('task_deferred_timeout')], null],
    ['that was abandoned', [ruled('defer'), event('task_deferred_abandoned')], null],
    ['that was rejected', [event('task_deferred_decision', { decision: 'reject' })], null],
    ['that the run skipped', [ruled('allow'), over], null],
    ['that ran', [began, ended('succeeded')], { outcome: 'succeeded' }],
    ['that failed', [began, ended('failed', 'interrupted system call')], { outcome: 'failed' }],
    ['with an unknown outcome', [began, ended('unknown', 'timeout')], { outcome: 'unknown' }],
    ['that did not run after its start', [began, ended('not_run')], { outcome: 'not_run' }],
    ['without an end', [began, over], { outcome: 'unknown' }],
  ])('contain the outcome of one %s', (_, events, ran) => {
    const made = claims(start, ...events) as JsonObject;
    if (ran === null) expect(made['ran']).toBeNull();
    else expect(made['ran']).toMatchObject(ran);
    expect(made['lines']).toHaveLength(events.length + 1);
  });
});
