import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogReader } from '../../../../../src/ui/dashboard/views/audit/read-log.ts';
import { verifyChunks } from '../../../../../src/ui/dashboard/views/audit/verify-stream.ts';
import { checkpointedLog, events, logOf, testKey } from '../../../../actors/records/log/log-of.ts';
import { runs } from '../../../../helpers/runs.ts';
import { answerLog, type ServedLog } from '../../../../helpers/served-log.ts';

const own = testKey('service-audit-v1', 1);

function readerOf(log: ServedLog): LogReader {
  const answer = (path: string) => answerLog(new URL(path, 'http://dashboard'), 'refunds', log);
  const client = {
    get: async <T>(path: string) => answer(path) as T,
    addressOf: (path: string) => ({ url: path, headers: {} }),
  };
  return new LogReader(client, 'refunds', async ({ url, ...job }) =>
    verifyChunks((answer(url) as Response).body!, job),
  );
}

const signal = new AbortController().signal;

function verify(lines: readonly string[], keys: unknown[] = []) {
  return readerOf({ lines, keys }).verify(() => undefined, signal);
}

/** Changes one digit of a line's note of its number, which leaves it in canonical form. */
function changed(lines: readonly string[], line: number): string[] {
  const text = lines[line - 1] ?? '';
  return lines.with(line - 1, text.replace(/"n":\d+/, '"n":77'));
}

describe('the verification of a log in the page', () => {
  it('accepts an intact log', async () => {
    const { lines, head } = checkpointedLog(2_500, own.signer);
    expect(await verify(lines, [own.publicKey])).toEqual({
      events: 2_501,
      signed: 2_501,
      checked: true,
      head,
      checkpoint: { count: 2_500, after: 0 },
      culprit: null,
    });
  });

  it('reports that signatures were not checked without keys', async () => {
    const { lines } = checkpointedLog(3, own.signer);
    expect(await verify(lines)).toMatchObject({ signed: 4, checked: false, culprit: null });
  });

  it('names the changed line, signed or not', async () => {
    const plain = checkpointedLog(20).lines;
    const signed = checkpointedLog(20, own.signer).lines;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 19 }), async (line) => {
        const [one, other] = await Promise.all([
          verify(changed(plain, line)),
          verify(changed(signed, line), [own.publicKey]),
        ]);
        expect([one.culprit?.line, other.culprit?.line]).toEqual([line, line]);
        expect(other.culprit?.says).toBe('sig does not match the line.');
      }),
      { numRuns: runs(10) },
    );
  });

  it('shows the expected and the actual hash', async () => {
    const { lines } = checkpointedLog(5);
    const { culprit } = await verify(changed(lines, 2));
    const { prev_hash: written } = JSON.parse(lines[2] ?? '') as { prev_hash: string };
    expect(culprit).toEqual({
      line: 2,
      says: 'This line was changed, or later lines were removed.',
      expected: expect.stringMatching(/^[0-9a-f]{64}$/),
      actual: written,
    });
    expect(culprit?.expected).not.toBe(written);
  });

  it('names the line whose link was changed', async () => {
    const { lines } = checkpointedLog(6);
    const other = lines.with(3, (lines[3] ?? '').replace(/"prev_hash":"./, '"prev_hash":"z'));
    expect((await verify(other)).culprit).toMatchObject({
      line: 4,
      says: 'This line, or the one before it, was changed.',
    });
  });

  it('reports missing lines of a signed log', async () => {
    const { lines } = checkpointedLog(6, own.signer);
    const { culprit } = await verify(lines.toSpliced(2, 1), [own.publicKey]);
    expect(culprit).toMatchObject({
      line: 3,
      says: 'Earlier lines are missing, or this line was inserted.',
    });
  });

  it('names a line with another key, and one with an unknown key', async () => {
    const other = testKey('service-audit-v1', 2);
    const stranger = testKey('stranger-v1', 2);
    const start = logOf(events(4), undefined, own.signer);
    const says = [];
    for (const signer of [other.signer, stranger.signer]) {
      const { lines, head } = logOf(events(1), start.head, signer);
      const rest = logOf(events(3), head, own.signer);
      const { culprit } = await verify([...start.lines, ...lines, ...rest.lines], [own.publicKey]);
      says.push([culprit?.line, culprit?.says]);
    }
    expect(says).toEqual([
      [5, 'sig does not match the line.'],
      [5, 'kid is not one of the keys.'],
    ]);
  });

  it('names the first of two swapped lines', async () => {
    const { lines } = checkpointedLog(12, own.signer);
    const [four = '', five = ''] = lines.slice(3, 5);
    const { culprit } = await verify(lines.toSpliced(3, 2, five, four), [own.publicKey]);
    expect(culprit).toMatchObject({
      line: 4,
      expected: expect.any(String),
      actual: expect.any(String),
    });
  });

  it('names the line of a torn end', async () => {
    const { lines } = checkpointedLog(12);
    const torn = [...lines.slice(0, 5), (lines[5] ?? '').slice(0, 40)];
    expect((await verify(torn)).culprit).toEqual({
      line: 6,
      says: 'the newline at the end is missing.',
    });
  });

  it('reports lines that were cut off since the last verification', async () => {
    const { lines } = checkpointedLog(12);
    const log = { lines };
    const reader = readerOf(log);
    await reader.verify(() => undefined, signal);
    log.lines = lines.slice(0, 9);
    const { culprit } = await reader.verify(() => undefined, signal);
    expect(culprit).toMatchObject({
      line: 9,
      says: 'The log ends here. Later lines existed at the last verification.',
    });
  });

  it('continues where a log was pruned, and counts its lines from there', async () => {
    const gone = checkpointedLog(20);
    const left = logOf(
      [
        {
          event: 'checkpoint',
          ts: '2026-07-01T09:05:00.000Z',
          fields: { count: 21, head: gone.head },
        },
        ...events(5),
      ],
      gone.head,
    );
    const pruned = { count: 21, head: gone.head };
    const log: ServedLog = { lines: left.lines, pruned };
    const reader = readerOf(log);
    const intact = await reader.verify(() => undefined, signal);
    log.lines = changed(left.lines, 3);
    const broken = await reader.verify(() => undefined, signal);
    expect([intact.culprit, intact.events, broken.culprit?.line]).toEqual([null, 6, 24]);
  });

  it('verifies only the lines around those of a task', async () => {
    const { lines } = checkpointedLog(40, own.signer);
    const log = { lines: changed(lines, 30), keys: [own.publicKey] };
    const reader = readerOf(log);
    const parts = [
      { from: 5, to: 20 },
      { from: 1, to: 5 },
      { from: 25, to: 35 },
      { from: 31, to: 99 },
    ];
    const found = [];
    for (const part of parts) {
      const { events: count, culprit } = await reader.verifyPart(part, signal);
      found.push([count, culprit?.line ?? null]);
    }
    expect(found).toEqual([
      [17, null],
      [5, null],
      [12, 30],
      [12, 30],
    ]);
  });
});
