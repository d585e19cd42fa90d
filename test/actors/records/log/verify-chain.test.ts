import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../src/actors/ports/audit-event.ts';
import { chainLine, checkpoint, GENESIS } from '../../../../src/actors/records/log/audit.ts';
import type { BreakReason, ChainVerdict } from '../../../../src/actors/records/log/verdict.ts';
import { verifyChain } from '../../../../src/actors/records/log/verify-chain.ts';
import { runs } from '../../../helpers/runs.ts';
import { checkpointedLog, events, logOf, testKey } from './log-of.ts';

type Content = Uint8Array | string;

const sha256Hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function* inPieces(content: Content, size: number): AsyncGenerator<Content> {
  for (let at = 0; at < content.length; at += size) yield content.slice(at, at + size);
}

function verify(contents: Content[], size = 1000): Promise<ChainVerdict> {
  const files = contents.map((content, index) => ({
    name: `${index + 1}.ndjson`,
    chunks: inPieces(content, size),
  }));
  return verifyChain(files, sha256Hex);
}

async function reasonFor(content: Content): Promise<[number, BreakReason] | 'ok'> {
  const verdict = await verify([content]);
  return verdict.ok ? 'ok' : [verdict.line, verdict.reason];
}

function bytesOf(...pieces: (string | number[])[]): Uint8Array {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
}

const anything = fc.anything({
  key: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('__proto__', 'toJSON', 'constructor', 'prev_hash', '\ud800', '\udfff\n'),
  ),
  values: [
    fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }),
    fc.double(),
    fc.maxSafeInteger(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, 1e300, 2 ** 53, Number.NaN, '\r\n', '\u2028', '\ufeff'),
  ],
  withNullPrototype: true,
  withObjectString: true,
  maxDepth: 4,
});

const anyEvents = fc.array(
  fc.record({
    event: fc.string({ unit: 'binary' }),
    ts: fc.string(),
    task_id: anything,
    fields: anything,
  }),
  { maxLength: 8 },
) as unknown as fc.Arbitrary<AuditEvent[]>;

describe('verifyChain', () => {
  it('accepts an intact log, its checkpoint and one byte at a time', async () => {
    const { lines, head } = checkpointedLog(5);
    const log = bytesOf(lines.join(''));
    for (const size of [1, 7, 100_000]) {
      expect(await verify([log], size)).toStrictEqual({
        ok: true,
        events: 6,
        signed: 0,
        head,
        checkpoint: { count: 5, after: 0 },
      });
    }
  });

  it('accepts text and bytes, with surrogate pairs across chunks', async () => {
    const { lines, head } = checkpointedLog(3);
    const verdict = await verify([lines.join('')], 1);
    const checkpoint = { count: 3, after: 0 };
    expect(verdict).toStrictEqual({ ok: true, events: 4, signed: 0, head, checkpoint });
  });

  it('accepts an asynchronous hash, as in browsers', async () => {
    const { lines, head } = logOf(events(2));
    const files = [{ name: 'log', chunks: inPieces(lines.join(''), 50) }];
    const hashed = async (bytes: Uint8Array) => {
      const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
      return Buffer.from(digest).toString('hex');
    };
    expect(await verifyChain(files, hashed)).toStrictEqual({
      ok: true,
      events: 2,
      signed: 0,
      head,
    });
  });

  it('accepts an empty log', async () => {
    const empty = { ok: true, events: 0, signed: 0, head: GENESIS };
    expect(await verify([])).toStrictEqual(empty);
    expect(await verify(['', ''])).toStrictEqual(empty);
  });

  it('follows the chain over files in their order', async () => {
    const { lines, head } = checkpointedLog(5);
    const [first, second] = [lines.slice(0, 2).join(''), lines.slice(2).join('')];
    const checkpoint = { count: 5, after: 0 };
    const intact = { ok: true, events: 6, signed: 0, head, checkpoint };
    expect(await verify([first, '', second])).toStrictEqual(intact);
    expect(await verify([second, first])).toMatchObject({ ok: false, file: '1.ndjson', line: 1 });
    expect(await verify([first, second, first])).toMatchObject({ file: '3.ndjson', line: 1 });
  });

  it('counts signed lines', async () => {
    const { signer } = testKey('service-audit-v1', 1);
    const first = logOf(events(1), GENESIS, signer);
    const second = logOf(events(2), first.head);
    const third = logOf(events(1), second.head, signer);
    const lines = [...first.lines, ...second.lines, ...third.lines];
    expect(await verify([lines.join('')])).toStrictEqual({
      ok: true,
      events: 4,
      signed: 2,
      head: third.head,
    });
  });

  it('reports file, line, seq, event and both hashes of a broken link', async () => {
    const { lines } = logOf(events(3));
    const edited = lines[1]!.replace('"n":1', '"n":7');
    expect(await verify([lines[0]! + edited + lines[2]!])).toStrictEqual({
      ok: false,
      file: '1.ndjson',
      line: 3,
      seq: 3,
      event: 'tool_exec',
      reason: 'prev_hash does not match the previous line',
      expected: sha256Hex(Buffer.from(edited.trimEnd())),
      actual: sha256Hex(Buffer.from(lines[1]!.trimEnd())),
    });
  });

  it('refuses a log without its beginning', async () => {
    const { lines } = logOf(events(3));
    expect(await verify([lines.slice(1).join('')])).toStrictEqual({
      ok: false,
      file: '1.ndjson',
      line: 1,
      seq: 2,
      event: 'tool_exec',
      reason: 'prev_hash is not that of the first line of a log',
      expected: GENESIS,
      actual: sha256Hex(Buffer.from(lines[0]!.trimEnd())),
    });
  });

  it('refuses a checkpoint that differs from the lines before it', async () => {
    const { lines, head } = logOf(events(2));
    const wrong: [unknown, unknown][] = [
      [3, head],
      [2, GENESIS],
      ['2', head],
      [undefined, undefined],
    ];
    for (const [count, stated] of wrong) {
      const standing = { count: count as number, head: stated as string };
      const last = chainLine(checkpoint('2026-07-01T09:05:00.000Z', standing), head).line;
      expect(await verify([`${lines.join('')}${last}\n`])).toMatchObject({
        ok: false,
        line: 3,
        event: 'checkpoint',
        reason: 'the checkpoint does not match the lines before it',
        expected: `count 2 and head ${head}`,
      });
    }
  });

  it.each<[string, Content, BreakReason]>([
    ['no JSON', 'nonsense\n', 'the line is not valid JSON'],
    ['two values', '{} {}\n', 'the line is not valid JSON'],
    ['a list', '[]\n', 'the line is not a JSON object'],
    ['null', 'null\n', 'the line is not a JSON object'],
    ['an empty line', '\n', 'the line is empty'],
    ['CRLF', '{"event":"x"}\r\n', 'the line holds a carriage return'],
    ['a byte order mark', '\ufeff{}\n', 'the line begins with a byte order mark'],
    ['bytes that are not UTF-8', bytesOf('{"a":"', [0xff], '"}\n'), 'the line is not valid UTF-8'],
    [
      'an encoded surrogate',
      bytesOf('"', [0xed, 0xa0, 0x80], '"\n'),
      'the line is not valid UTF-8',
    ],
    ['a blank', '{"a": 1}\n', 'the line is not in canonical form (RFC 8785)'],
    ['unsorted keys', '{"b":1,"a":1}\n', 'the line is not in canonical form (RFC 8785)'],
    ['a repeated key', '{"a":1,"a":1}\n', 'the line is not in canonical form (RFC 8785)'],
    ['a needless escape', '{"a":"\\u0061"}\n', 'the line is not in canonical form (RFC 8785)'],
    ['an escaped surrogate', '{"a":"\\ud800"}\n', 'the line is not in canonical form (RFC 8785)'],
    ['a number beyond a double', '{"a":1e400}\n', 'the line is not in canonical form (RFC 8785)'],
    [
      'an inexact integer',
      '{"a":9007199254740993}\n',
      'the line is not in canonical form (RFC 8785)',
    ],
    ['no prev_hash', '{"event":"x"}\n', 'prev_hash is missing'],
    ['a prev_hash that is not a string', '{"prev_hash":0}\n', 'prev_hash is missing'],
    ['no newline', '{"event":"x"}', 'the newline at the end is missing'],
    ['zeros after a crash', bytesOf([0, 0, 0]), 'the newline at the end is missing'],
  ])('refuses %s', async (_, content, reason) => {
    expect(await reasonFor(content)).toStrictEqual([1, reason]);
    const { lines } = logOf(events(2));
    const after = bytesOf(lines.join(''), [...Buffer.from(content as string)]);
    expect(await reasonFor(after)).toStrictEqual([3, reason]);
  });

  it('refuses a line above 4 MiB before its end', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (const chunk = new Uint8Array(1024 * 1024).fill(0x20); ; read += 1) yield chunk;
    }
    const verdict = await verifyChain([{ name: 'log', chunks: endless() }], sha256Hex);
    expect(verdict).toStrictEqual({
      ok: false,
      file: 'log',
      line: 1,
      reason: 'the line is longer than 4 MiB',
    });
    expect(read).toBe(4);
  });

  it('accepts a line of exactly 4 MiB and refuses one byte more', async () => {
    const limit = 4 * 1024 * 1024;
    const lineOf = (size: number) => {
      const rest = Buffer.byteLength(JSON.stringify({ a: '', prev_hash: GENESIS }));
      return `${JSON.stringify({ a: 'x'.repeat(size - rest), prev_hash: GENESIS })}\n`;
    };
    expect(await verify([lineOf(limit)], 65_536)).toMatchObject({ ok: true, events: 1 });
    expect(await reasonFor(lineOf(limit + 1))).toStrictEqual([1, 'the line is longer than 4 MiB']);
    const inOneChunk = await verify([lineOf(limit + 1)], limit * 2);
    expect(inOneChunk).toMatchObject({ line: 1, reason: 'the line is longer than 4 MiB' });
  });

  it('verifies any written events, one line each', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents, fc.integer({ min: 1, max: 300 }), async (written, size) => {
        const { lines, head } = logOf(written);
        const log = bytesOf(lines.join(''));
        expect(log.filter((byte) => byte === 0x0a)).toHaveLength(written.length);
        expect(await verify([log], size)).toStrictEqual({
          ok: true,
          events: written.length,
          signed: 0,
          head,
        });
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('a log after tampering', () => {
  const count = 6;
  const { lines } = checkpointedLog(count);
  const last = lines.length - 1;
  const at = (index: number) => lines[index]!;
  const forged = (previousHash: string) =>
    `${chainLine({ ...events(1)[0]!, event: 'forged' }, previousHash).line}\n`;
  const linkOf = (index: number) => JSON.parse(at(index)).prev_hash as string;

  /** Each operator with the lines it makes of the log and the first bad line, counted from 1. */
  const operators: [string, (index: number) => [string[], number] | null][] = [
    [
      'edits a value',
      (i) => (i === last ? null : [lines.with(i, at(i).replace('"n":', '"n":1')), i + 2]),
    ],
    ['edits the link', (i) => [lines.with(i, at(i).replace(linkOf(i), 'f'.repeat(64))), i + 1]],
    ['adds a blank', (i) => [lines.with(i, at(i).replace(':', ': ')), i + 1]],
    [
      'writes the link in capitals',
      (i) => {
        const capitals = at(i).replace(linkOf(i), linkOf(i).toUpperCase());
        return i === 0 ? null : [lines.with(i, capitals), i + 1];
      },
    ],
    [
      'edits a checkpoint',
      (i) =>
        i === last ? [lines.with(i, at(i).replace(`"count":${count}`, '"count":5')), i + 1] : null,
    ],
    ['deletes', (i) => (i === last ? null : [lines.toSpliced(i, 1), i + 1])],
    ['inserts', (i) => [lines.toSpliced(i, 0, forged('e'.repeat(64))), i + 1]],
    ['inserts with the right link', (i) => [lines.toSpliced(i, 0, forged(linkOf(i))), i + 2]],
    [
      'swaps with the next',
      (i) => (i === last ? null : [lines.with(i, at(i + 1)).with(i + 1, at(i)), i + 1]),
    ],
    ['duplicates', (i) => [lines.toSpliced(i, 0, at(i)), i + 2]],
    ['truncates within the line', (i) => [lines.with(i, `${at(i).slice(0, -9)}\n`), i + 1]],
    ['joins to the next', (i) => [lines.with(i, at(i).trimEnd()), i + 1]],
    ['empties', (i) => [lines.with(i, '\n'), i + 1]],
    ['tears off the end', (i) => [lines.slice(0, i + 1).with(i, at(i).slice(0, -1)), i + 1]],
    ['drops the head', (i) => (i === 0 ? null : [lines.slice(i), 1])],
  ];

  const cases = operators.flatMap(([name, operator]) =>
    lines.flatMap((_, index) => {
      const made = operator(index);
      return made === null ? [] : [{ name, index, log: made[0].join(''), line: made[1] }];
    }),
  );

  it.each(cases)('is refused: $name at $index', async ({ log, line }) => {
    expect(await verify([log])).toMatchObject({ ok: false, file: '1.ndjson', line });
  });

  it('is refused for any flipped bit, except in the content of the last line', async () => {
    const log = bytesOf(lines.join(''));
    const lastStart = log.length - Buffer.byteLength(at(last));
    const verdicts = Array.from(log.subarray(0, lastStart), async (_, index) => {
      const flipped = log.slice();
      flipped[index]! ^= 1;
      const line = log.subarray(0, index).filter((byte) => byte === 0x0a).length + 1;
      const verdict = await verify([flipped]);
      return !verdict.ok && (verdict.line === line || verdict.line === line + 1);
    });
    expect(new Set(await Promise.all(verdicts))).toStrictEqual(new Set([true]));
  });
});
