import { describe, expect, it } from 'vitest';
import { checkpoint, GENESIS } from '../../../../src/actors/records/log/audit.ts';
import { sha256Hex } from '../../../../src/actors/records/log/node-crypto.ts';
import type { LineBreak } from '../../../../src/actors/records/log/verdict.ts';
import { verifyChain } from '../../../../src/actors/records/log/verify-chain.ts';
import { checkpointedLog, events, logOf, testKey } from './log-of.ts';
import { verifyText } from './verify-text.ts';

const ts = '2026-07-01T09:05:00.000Z';
const own = testKey('service-audit-v1', 1);
const renewed = testKey('service-audit-v2', 2);
const keys = [own.publicKey, renewed.publicKey];
const headOf = (line: string) => JSON.parse(line).prev_hash as string;

describe('a log after a key change', () => {
  const first = logOf(events(3), GENESIS, own.signer);
  const rotated = { event: 'audit_key_rotated', ts, fields: { old_kid: 'service-audit-v1' } };
  const second = logOf([rotated, ...events(2)], first.head, renewed.signer);
  const log = [...first.lines, ...second.lines].join('');

  it('verifies with both keys, and not without the older one', async () => {
    expect(await verifyText([log], { keys, requireSigned: true })).toStrictEqual({
      ok: true,
      events: 6,
      signed: 6,
      head: second.head,
    });
    expect(await verifyText([log], { keys: [renewed.publicKey] })).toStrictEqual({
      ok: false,
      file: '1.ndjson',
      line: 1,
      seq: 1,
      event: 'tool_exec',
      reason: 'kid is not one of the keys',
    });
  });
});

describe('signatures without keys', () => {
  it('are counted, and unsigned lines are accepted unless all must be signed', async () => {
    const signed = logOf(events(2), GENESIS, own.signer);
    const unsigned = logOf(events(1), signed.head);
    const log = [...signed.lines, ...unsigned.lines].join('');
    expect(await verifyText([log])).toMatchObject({ ok: true, events: 3, signed: 2 });
    expect(await verifyText([log], { keys })).toMatchObject({ ok: true, events: 3, signed: 2 });
    expect(await verifyText([log], { requireSigned: true })).toMatchObject({
      ok: false,
      line: 3,
      reason: 'sig is missing',
    });
  });

  it.each([
    ['without its key', /"kid":"[^"]+",/, 'kid is missing'],
    ['without its signature', /"sig":"[^"]+",/, 'sig is missing'],
    ['that is invalid', /(?<="sig":")[^"]+/, 'sig is not an Ed25519 signature in base64'],
  ])('are refused %s', async (_, pattern, reason) => {
    const { lines } = logOf(events(1), GENESIS, own.signer);
    expect(await verifyText([lines[0]!.replace(pattern, '')])).toMatchObject({
      ok: false,
      line: 1,
      reason,
    });
  });
});

describe('a signature that cannot be checked', () => {
  it('counts as wrong', async () => {
    const { lines } = logOf(events(2), GENESIS, own.signer);
    async function* chunks() {
      yield lines.join('');
    }
    const broken = { has: () => true, verify: () => Promise.reject(new Error('no memory')) };
    const files = [{ name: 'log', chunks: chunks() }];
    expect(await verifyChain(files, sha256Hex, { keys: broken })).toMatchObject({
      ok: false,
      line: 1,
      reason: 'sig does not match the line',
    });
  });
});

describe('a log without its oldest files', () => {
  const { lines, head } = checkpointedLog(5);
  const more = logOf(events(2), head);
  const rest = [...lines.slice(2), ...more.lines].join('');
  const from = headOf(lines[2]!);

  it('continues from the hash before it', async () => {
    expect(await verifyText([rest], { continuedFrom: from })).toStrictEqual({
      ok: true,
      events: 6,
      signed: 0,
      head: more.head,
      checkpoint: { count: 5, after: 2 },
    });
  });

  it('is refused without that hash and with another one', async () => {
    expect(await verifyText([rest])).toMatchObject({
      line: 1,
      reason: 'prev_hash is not that of the first line of a log',
    });
    expect(await verifyText([rest], { continuedFrom: 'a'.repeat(64) })).toMatchObject({
      line: 1,
      reason: 'prev_hash is not the hash the log should continue from',
      expected: 'a'.repeat(64),
      actual: from,
    });
  });

  it('must contain a stored checkpoint, from any beginning', async () => {
    const options = { continuedFrom: from };
    const atSix = { count: 6, head };
    expect(await verifyText([rest], { ...options, kept: atSix })).toMatchObject({ ok: true });
    const early = { count: 3, head: headOf(lines[3]!) };
    expect(await verifyText([rest], { ...options, kept: early })).toMatchObject({ ok: true });
    const late = { count: 20, head: 'b'.repeat(64) };
    expect(await verifyText([rest], { ...options, kept: late })).toStrictEqual({
      ok: false,
      file: '1.ndjson',
      line: 7,
      reason: 'the log ends before the kept checkpoint',
      expected: `20 lines and head ${'b'.repeat(64)}`,
      actual: '8 lines',
    });
  });

  it('must agree with its own checkpoints', async () => {
    const start = logOf(events(1), 'c'.repeat(64));
    const one = logOf([checkpoint(ts, { count: 10, head: start.head })], start.head);
    const two = logOf([checkpoint(ts, { count: 12, head: one.head })], one.head);
    const log = [...start.lines, ...one.lines, ...two.lines].join('');
    expect(await verifyText([log], { continuedFrom: 'c'.repeat(64) })).toMatchObject({
      ok: false,
      line: 3,
      reason: 'the checkpoint does not match the lines before it',
      expected: `count 11 and head ${one.head}`,
    });
  });
});

describe('a stored checkpoint', () => {
  const { lines, head } = checkpointedLog(5);

  it('matches its log, up to the last line', async () => {
    const kept = { count: 6, head };
    expect(await verifyText([lines.join('')], { kept })).toMatchObject({ ok: true });
  });

  it('detects a rewritten log at its line', async () => {
    const other = logOf(events(9, 't-2'));
    const kept = { count: 5, head: headOf(lines[5]!) };
    expect(await verifyText([other.lines.join('')], { kept })).toStrictEqual({
      ok: false,
      file: '1.ndjson',
      line: 5,
      seq: 5,
      event: 'tool_exec',
      reason: 'the lines up to here do not match the kept checkpoint',
      expected: kept.head,
      actual: headOf(other.lines[5]!),
    });
  });

  it('shows an empty log', async () => {
    expect(await verifyText([''], { kept: { count: 6, head } })).toMatchObject({
      ok: false,
      file: '1.ndjson',
      line: 1,
      reason: 'the log ends before the kept checkpoint',
    });
  });
});

describe('a verification that continues after the first bad line', () => {
  it('reports every break once, in order, over files', async () => {
    const { lines } = checkpointedLog(300, own.signer);
    const changed = lines
      .with(9, lines[9]!.replace('"n":9,', '"n":8,'))
      .with(200, 'nonsense\n')
      .toSpliced(250, 1);
    const breaks: LineBreak[] = [];
    const contents = [changed.slice(0, 150).join(''), changed.slice(150).join('')];
    const verdict = await verifyText(contents, { keys, onBreak: (found) => breaks.push(found) });
    expect(breaks.map(({ file, line, reason }) => `${file}:${line} ${reason}`)).toEqual([
      '1.ndjson:10 sig does not match the line',
      '1.ndjson:11 prev_hash does not match the previous line',
      '2.ndjson:51 the line is not valid JSON',
      '2.ndjson:52 prev_hash does not match the previous line',
      '2.ndjson:101 prev_hash does not match the previous line',
      '2.ndjson:150 the checkpoint does not match the lines before it',
    ]);
    expect(verdict).toStrictEqual({ ok: false, ...breaks[0] });
  });
});
