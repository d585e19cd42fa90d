import { describe, expect, it } from 'vitest';
import { GENESIS } from '../../../../src/actors/records/log/audit.ts';
import type { KeyRing } from '../../../../src/actors/records/log/key-ring.ts';
import { LogReading } from '../../../../src/actors/records/log/log-reading.ts';
import { sha256Hex } from '../../../../src/actors/records/log/node-crypto.ts';
import type { LineBreak, VerifyOptions } from '../../../../src/actors/records/log/verdict.ts';
import { verifyChain } from '../../../../src/actors/records/log/verify-chain.ts';
import { events, logOf } from './log-of.ts';

/** A signer whose signatures are well-formed, and keys that accept what a test wants. */
const signer = { kid: 'k', sign: () => Buffer.alloc(64).toString('base64') };
const keysThat = (verify: (n: number) => Promise<boolean>): KeyRing => {
  let asked = 0;
  return { has: () => true, verify: () => verify((asked += 1)) };
};
const taking = keysThat(() => Promise.resolve(true));

const signed = (count: number) => logOf(events(count), GENESIS, signer);

/** Reads lines of one file; answers the lines, from 1, after which something had to be waited for. */
async function readLines(reading: LogReading, lines: readonly string[]): Promise<number[]> {
  const awaited: number[] = [];
  for (const [index, line] of lines.entries()) {
    const bytes = Buffer.from(line.trimEnd());
    const pending = reading.take(bytes, sha256Hex(bytes));
    if (pending !== null) awaited.push(index + 1);
    await pending;
  }
  return awaited;
}

async function verdictOf(lines: readonly string[], options: VerifyOptions = {}) {
  const reading = new LogReading(options);
  reading.open('audit.ndjson');
  await readLines(reading, lines);
  return reading.finish();
}

const said = ({ file, line, reason }: LineBreak) => `${file}:${line} ${reason}`;

describe('the verification of a log', () => {
  it('checks 512 signatures at once, and waits for half of them before more', async () => {
    const { lines, head } = signed(1_100);
    const reading = new LogReading({ keys: taking });
    reading.open('audit.ndjson');
    expect(await readLines(reading, lines)).toEqual([512, 768, 1_024]);
    expect(await reading.finish()).toStrictEqual({ ok: true, events: 1_100, signed: 1_100, head });
  });

  it('waits for nothing where no signature is checked', async () => {
    const reading = new LogReading({});
    reading.open('audit.ndjson');
    expect(await readLines(reading, signed(600).lines)).toEqual([]);
  });

  it('reports a late signature failure before later lines', async () => {
    const breaks: string[] = [];
    const keys = keysThat(async (n) => {
      if (n === 2) await new Promise((resolve) => setImmediate(resolve));
      return n !== 2 && n !== 3;
    });
    const reading = new LogReading({ keys, onBreak: (found) => breaks.push(said(found)) });
    reading.open('1.ndjson');
    await readLines(reading, [...signed(3).lines, 'nonsense\n']);
    reading.open('2.ndjson');
    await readLines(reading, ['\n']);
    expect(breaks).toEqual([
      '1.ndjson:2 sig does not match the line',
      '1.ndjson:3 sig does not match the line',
      '1.ndjson:4 the line is not valid JSON',
      '2.ndjson:1 the line is empty',
    ]);
    expect(await reading.finish()).toMatchObject({ ok: false, file: '1.ndjson', line: 2, seq: 2 });
  });

  it('finds a wrong signature at the end of the log', async () => {
    const keys = keysThat((n) => Promise.resolve(n !== 3));
    expect(await verdictOf(signed(3).lines, { keys })).toStrictEqual({
      ok: false,
      file: 'audit.ndjson',
      line: 3,
      seq: 3,
      event: 'tool_exec',
      reason: 'sig does not match the line',
    });
  });

  it('stops at the first bad line, unless all are requested', async () => {
    const alone = new LogReading({});
    const heard = new LogReading({ onBreak: () => undefined });
    for (const reading of [alone, heard]) reading.open('audit.ndjson');
    expect([alone.isOver, heard.isOver]).toEqual([false, false]);
    for (const reading of [alone, heard]) await readLines(reading, ['nonsense\n']);
    expect([alone.isOver, heard.isOver]).toEqual([true, false]);
  });

  it('stops at once at a line that lacks its signature', async () => {
    const reading = new LogReading({ requireSigned: true });
    reading.open('audit.ndjson');
    await readLines(reading, logOf(events(1)).lines);
    expect(reading.isOver).toBe(true);
  });

  it('continues from the bytes of an invalid line', async () => {
    const first = logOf(events(2));
    const second = logOf(events(2), sha256Hex(Buffer.from('nonsense')));
    const breaks: string[] = [];
    await verdictOf([...first.lines, 'nonsense\n', ...second.lines], {
      kept: { count: 5, head: second.head },
      onBreak: (found) => breaks.push(said(found)),
    });
    expect(breaks).toEqual(['audit.ndjson:3 the line is not valid JSON']);
  });

  it('omits an invalid number and name', async () => {
    const line = `{"event":7,"kid":"k","prev_hash":"${GENESIS}","seq":"1"}\n`;
    expect(await verdictOf([line])).toStrictEqual({
      ok: false,
      file: 'audit.ndjson',
      line: 1,
      reason: 'sig is missing',
    });
  });
});

describe('a bad line', () => {
  /** A file whose pieces are counted as they are read. */
  function countedFile(name: string, pieces: string[]) {
    const read: string[] = [];
    async function* chunks(): AsyncGenerator<string> {
      for (const piece of pieces) {
        read.push(piece);
        yield piece;
      }
    }
    return { file: { name, chunks: chunks() }, read };
  }

  const bad = 'no line at all\n';

  it('stops the verification of all files', async () => {
    const one = countedFile('1.ndjson', [bad, bad, bad]);
    const two = countedFile('2.ndjson', [bad]);
    const verdict = await verifyChain([one.file, two.file], sha256Hex);
    expect(verdict).toMatchObject({ ok: false, file: '1.ndjson', line: 1 });
    expect([one.read, two.read]).toEqual([[bad], []]);
  });

  it('stops nothing where all are requested', async () => {
    const one = countedFile('1.ndjson', [bad, bad]);
    const two = countedFile('2.ndjson', [bad]);
    const broken: string[] = [];
    await verifyChain([one.file, two.file], sha256Hex, {
      onBreak: ({ file, line }) => broken.push(`${file}:${line}`),
    });
    expect(broken).toEqual(['1.ndjson:1', '1.ndjson:2', '2.ndjson:1']);
  });
});

describe('a line that differs from a stored checkpoint', () => {
  const kept = { count: 2, head: 'a'.repeat(64) };
  const place = { ok: false, file: 'audit.ndjson', line: 2, seq: 2, event: 'tool_exec' };

  it('was rewritten by a holder of the key', async () => {
    const { lines } = signed(3);
    expect(await verdictOf(lines, { keys: taking, kept })).toStrictEqual({
      ...place,
      reason: 'the lines up to here do not match the kept checkpoint',
      expected: kept.head,
      actual: sha256Hex(Buffer.from(lines[1]!.trimEnd())),
    });
  });

  it('is reported as wrongly signed when it is', async () => {
    const keys = keysThat((n) => Promise.resolve(n !== 2));
    const reason = 'sig does not match the line';
    expect(await verdictOf(signed(3).lines, { keys, kept })).toStrictEqual({ ...place, reason });
  });

  it('is the one after the last when the log ends before it', async () => {
    const reason = 'the log ends before the kept checkpoint';
    const breaks: string[] = [];
    const verdict = await verdictOf([...signed(1).lines, 'nonsense\n'], {
      kept: { ...kept, count: 9 },
      onBreak: (found) => breaks.push(said(found)),
    });
    expect(breaks).toEqual([
      'audit.ndjson:2 the line is not valid JSON',
      `audit.ndjson:3 ${reason}`,
    ]);
    expect(verdict).toMatchObject({ ok: false, line: 2 });
  });
});
