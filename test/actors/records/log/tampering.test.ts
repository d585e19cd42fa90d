import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type LineSigner, publicKey } from '../../../../src/actors/records/log/audit.ts';
import type { BreakReason } from '../../../../src/actors/records/log/verdict.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { checkpointedLog, events, logOf, testKey } from './log-of.ts';
import { verifyText } from './verify-text.ts';

const own = testKey('service-audit-v1', 1);
const second = testKey('service-audit-v2', 2);
/** An attacker without the key, who uses its name. */
const thief = testKey('service-audit-v1', 3);
const stranger = testKey('stranger', 4);
const keys = [own.publicKey, second.publicKey];

const linkBroken = 'prev_hash does not match the previous line';
const wrongSignature = 'sig does not match the line';

const hashOf = (line: string) => createHash('sha256').update(line.trimEnd()).digest('hex');
const written = (line: JsonObject) => `${JSON.stringify(line)}\n`;
const parsed = (line: string) => JSON.parse(line) as JsonObject;

/** Gives lines from one on valid links, as an attacker would who can hash but not sign. */
function rechained(lines: string[], from: number): string[] {
  const result = lines.slice(0, from);
  for (const line of lines.slice(from)) {
    const previous = result.at(-1);
    result.push(
      previous === undefined ? line : written({ ...parsed(line), prev_hash: hashOf(previous) }),
    );
  }
  return result;
}

/** A line with other content, with a foreign signature. */
function resigned(line: string, signer: LineSigner): string {
  const { prev_hash: link, kid: _, sig: __, ...event } = parsed(line);
  return logOf([event as never], String(link), signer).lines[0]!;
}

function edited(line: string): string {
  return line.replace(/"ts":"2026/, '"ts":"2025');
}

function without(line: string, ...names: string[]): string {
  const kept = Object.entries(parsed(line)).filter(([name]) => !names.includes(name));
  return written(Object.fromEntries(kept));
}

interface Found {
  line: number;
  reason: BreakReason;
}
type Operator = (lines: string[], index: number) => [string[], Found];

const found = (line: number, reason: BreakReason): Found => ({ line, reason });

const foreign = logOf(events(20, 't-9'), undefined, own.signer).lines;

/** A change of line `index` by an attacker, counted from 0, and where it is detected, counted from 1. */
const operators: Record<string, Operator> = {
  'edits a value': (lines, i) => [lines.with(i, edited(lines[i]!)), found(i + 1, wrongSignature)],
  'edits a value and chains the rest anew': (lines, i) => [
    rechained(lines.with(i, edited(lines[i]!)), i + 1),
    found(i + 1, wrongSignature),
  ],
  'edits a value and takes the signature away': (lines, i) => [
    rechained(lines.with(i, without(edited(lines[i]!), 'sig', 'kid')), i + 1),
    found(i + 1, 'sig is missing'),
  ],
  deletes: (lines, i) => [
    lines.toSpliced(i, 1),
    i === 0
      ? found(1, 'prev_hash is not that of the first line of a log')
      : i === lines.length - 1
        ? found(i + 1, 'the log ends before the kept checkpoint')
        : found(i + 1, linkBroken),
  ],
  'deletes and chains the rest anew': (lines, i) => {
    const reasons = new Map<number, BreakReason>([
      [0, 'prev_hash is not that of the first line of a log'],
      [lines.length - 2, 'the checkpoint does not match the lines before it'],
      [lines.length - 1, 'the log ends before the kept checkpoint'],
    ]);
    return [rechained(lines.toSpliced(i, 1), i), found(i + 1, reasons.get(i) ?? wrongSignature)];
  },
  'inserts a line without a signature': (lines, i) => {
    const forged = logOf([{ event: 'forged', ts: '' }], String(parsed(lines[i]!)['prev_hash']));
    return [lines.toSpliced(i, 0, ...forged.lines), found(i + 1, 'sig is missing')];
  },
  'inserts a line signed by a thief': (lines, i) => [
    lines.toSpliced(i, 0, edited(resigned(lines[i]!, thief.signer))),
    found(i + 1, wrongSignature),
  ],
  duplicates: (lines, i) => [lines.toSpliced(i, 0, lines[i]!), found(i + 2, linkBroken)],
  'swaps with a neighbour': (lines, i) => {
    const [one, other] = i === lines.length - 1 ? [i - 1, i] : [i, i + 1];
    const swapped = lines.with(one, lines[other]!).with(other, lines[one]!);
    const reason = one === 0 ? 'prev_hash is not that of the first line of a log' : linkBroken;
    return [swapped, found(one + 1, reason)];
  },
  'truncates within the line': (lines, i) => [
    lines.with(i, `${lines[i]!.slice(0, lines[i]!.length >> 1)}\n`),
    found(i + 1, 'the line is not valid JSON'),
  ],
  'tears the end off within the line': (lines, i) => [
    lines.slice(0, i + 1).with(i, lines[i]!.slice(0, -9)),
    found(i + 1, 'the newline at the end is missing'),
  ],
  'cuts the tail off': (lines, i) => [
    lines.slice(0, i),
    found(i + 1, 'the log ends before the kept checkpoint'),
  ],
  'splices in a line of another log': (lines, i) => [
    lines.toSpliced(i, 0, foreign[i + 1]!),
    found(i + 1, i === 0 ? 'prev_hash is not that of the first line of a log' : linkBroken),
  ],
  'goes on as another log': (lines, i) => [
    [...lines.slice(0, i), ...foreign.slice(i, lines.length)],
    i === 0
      ? found(lines.length, 'the lines up to here do not match the kept checkpoint')
      : found(i + 1, linkBroken),
  ],
  'strips the signature': (lines, i) => [
    lines.with(i, without(lines[i]!, 'sig')),
    found(i + 1, 'sig is missing'),
  ],
  'strips signature and key': (lines, i) => [
    lines.with(i, without(lines[i]!, 'sig', 'kid')),
    found(i + 1, 'sig is missing'),
  ],
  'strips the key': (lines, i) => [
    lines.with(i, without(lines[i]!, 'kid')),
    found(i + 1, 'kid is missing'),
  ],
  'spoils the signature': (lines, i) => [
    lines.with(i, written({ ...parsed(lines[i]!), sig: 'c2ln' })),
    found(i + 1, 'sig is not an Ed25519 signature in base64'),
  ],
  'names an unknown key': (lines, i) => [
    lines.with(i, written({ ...parsed(lines[i]!), kid: 'unknown' })),
    found(i + 1, 'kid is not one of the keys'),
  ],
  'names another key': (lines, i) => [
    lines.with(i, written({ ...parsed(lines[i]!), kid: second.signer.kid })),
    found(i + 1, wrongSignature),
  ],
  'signs as a stranger': (lines, i) => [
    rechained(lines.with(i, resigned(lines[i]!, stranger.signer)), i + 1),
    found(i + 1, 'kid is not one of the keys'),
  ],
  'signs as a thief': (lines, i) => [
    rechained(lines.with(i, resigned(lines[i]!, thief.signer)), i + 1),
    found(i + 1, wrongSignature),
  ],
  'drops the head': (lines, i) => [
    lines.slice(i + 1),
    i === lines.length - 1
      ? found(1, 'the log ends before the kept checkpoint')
      : found(1, 'prev_hash is not that of the first line of a log'),
  ],
};

describe('a signed log after tampering', () => {
  const { lines, head } = checkpointedLog(11, own.signer);
  const kept = { count: lines.length, head };
  const options = { keys, requireSigned: true, kept };

  it('was intact before', async () => {
    expect(await verifyText([lines.join('')], options)).toStrictEqual({
      ok: true,
      events: 12,
      signed: 12,
      head,
      checkpoint: { count: 11, after: 0 },
    });
  });

  it.each(Object.keys(operators))('is refused at the changed line, for each: %s', async (name) => {
    const verdicts = await Promise.all(
      lines.map(async (_, index) => {
        const [changed, expected] = operators[name]!(lines, index);
        const verdict = await verifyText([changed.join('')], options);
        const actual = verdict.ok ? 'intact' : found(verdict.line, verdict.reason);
        return { index, expected, actual };
      }),
    );
    expect(verdicts).toEqual(
      verdicts.map(({ index, expected }) => ({ index, expected, actual: expected })),
    );
  });
});

describe('a log of 10,000 events', () => {
  const count = 10_000;
  const signedEnds = 100;
  const lines = bigLog();
  const kept = { count, head: hashOf(lines.at(-1)!) };

  /** Lines near both ends are signed, since a signature costs far more than a link. */
  function bigLog(): string[] {
    const all = events(count);
    const first = logOf(all.slice(0, signedEnds), undefined, own.signer);
    const middle = logOf(all.slice(signedEnds, -signedEnds), first.head);
    const last = logOf(all.slice(-signedEnds), middle.head, own.signer);
    return [...first.lines, ...middle.lines, ...last.lines];
  }

  it('was intact before', async () => {
    expect(await verifyText([lines.join('')], { keys, kept })).toMatchObject({
      ok: true,
      events: count,
      signed: 2 * signedEnds,
    });
  });

  /** The middle is not signed: what a signature would show at the line, the next link shows. */
  const inTheMiddle: Record<string, Operator> = {
    'edits a value': (all, i) => [all.with(i, edited(all[i]!)), found(i + 2, linkBroken)],
    deletes: (all, i) => [all.toSpliced(i, 1), found(i + 1, linkBroken)],
    'inserts a line': (all, i) => {
      const forged = logOf([{ event: 'forged', ts: '' }], String(parsed(all[i]!)['prev_hash']));
      return [all.toSpliced(i, 0, ...forged.lines), found(i + 2, linkBroken)];
    },
    duplicates: operators['duplicates']!,
    'swaps with a neighbour': operators['swaps with a neighbour']!,
    'truncates within the line': operators['truncates within the line']!,
    'cuts the tail off': operators['cuts the tail off']!,
    'splices in a line of another log': (all, i) => [
      all.toSpliced(i, 0, foreign[7]!),
      found(i + 1, linkBroken),
    ],
    'edits a value and chains the rest anew': (all, i) => [
      rechained(all.with(i, edited(all[i]!)), i + 1),
      found(count - signedEnds + 1, wrongSignature),
    ],
    'drops the head': operators['drops the head']!,
  };

  it.each(Object.entries(inTheMiddle))(
    'is refused at the line where an attacker %s',
    async (name, operator) => {
      const index = seeded(name, signedEnds + 1, count - signedEnds - 1);
      const [changed, expected] = operator(lines, index);
      const verdict = await verifyText([changed.join('')], { keys, kept });
      expect(verdict).toMatchObject({ ok: false, ...expected });
    },
  );

  const atTheEnds = [
    'edits a value',
    'strips the signature',
    'names an unknown key',
    'names another key',
    'signs as a stranger',
    'signs as a thief',
  ];

  it.each(atTheEnds)('is refused at the signed line where an attacker %s', async (name) => {
    const index = seeded(name, count - signedEnds, count - 1);
    const [changed, expected] = operators[name]!(lines, index);
    const verdict = await verifyText([changed.join('')], { keys, kept });
    expect(verdict).toMatchObject({ ok: false, ...expected });
  });

  /** A number from `least` up to but not including `most`, always the same for a name. */
  function seeded(name: string, least: number, most: number): number {
    return least + (Number.parseInt(hashOf(name).slice(0, 12), 16) % (most - least));
  }
});

describe('a key that signs under two names', () => {
  it('is valid under each name only', async () => {
    const renamed = publicKey('other', own.publicKey.x);
    const { lines } = checkpointedLog(2, own.signer);
    expect(await verifyText([lines.join('')], { keys: [renamed] })).toMatchObject({
      ok: false,
      ...found(1, 'kid is not one of the keys'),
    });
  });
});
