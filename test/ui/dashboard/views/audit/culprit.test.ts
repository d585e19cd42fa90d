import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditJson } from '../../../../../src/http/wire/dashboard/audit-json.ts';
import { LogReader } from '../../../../../src/ui/dashboard/views/audit/read-log.ts';
import { checkpointedLog, testKey } from '../../../../actors/records/log/log-of.ts';

const own = testKey('service-audit-v1', 1);

/** A client of a server that has these lines. */
function clientOf(lines: readonly string[], keys: unknown[] = []) {
  const get = async <T>(path: string): Promise<T> => {
    const query = new URL(path, 'http://dashboard').searchParams;
    const limit = Number(query.get('limit'));
    const end = Math.min(lines.length, Number(query.get('before') ?? lines.length + 1) - 1);
    const first = Math.max(1, end - limit + 1);
    const answer: AuditJson = {
      events: lines
        .slice(first - 1, end)
        .map((line, index) => ({ seq: first + index, line: line.replace(/\n$/, '') })),
      first,
      total: lines.length,
      verified: { ok: true, events: lines.length },
      keys,
      path: '/agents/refunds/.service/audit.ndjson',
    };
    return answer as T;
  };
  return { get };
}

function verify(lines: readonly string[], keys: unknown[] = []) {
  const reader = new LogReader(clientOf(lines, keys), 'refunds');
  return reader.verify(() => undefined, new AbortController().signal);
}

/** Changes one digit of a line's note of its number, which leaves it in canonical form. */
function changed(lines: readonly string[], line: number): string[] {
  const text = lines[line - 1] ?? '';
  return lines.with(line - 1, text.replace(/"n":\d+/, '"n":77'));
}

describe('the verification of a log in the page', () => {
  it('finds an intact log intact over several answers', async () => {
    const { lines } = checkpointedLog(2_500, own.signer);
    expect(await verify(lines, [own.publicKey])).toEqual({
      events: 2_501,
      signed: 2_501,
      checked: true,
      culprit: null,
    });
  });

  it('says that signatures were not checked without keys', async () => {
    const { lines } = checkpointedLog(3, own.signer);
    expect(await verify(lines)).toEqual({ events: 4, signed: 4, checked: false, culprit: null });
  });

  it('names the very line that was changed, signed or not', async () => {
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
      { numRuns: 10 },
    );
  });

  it('shows the hash that was expected and the one that is there', async () => {
    const { lines } = checkpointedLog(5);
    const { culprit } = await verify(changed(lines, 2));
    const { prev_hash: written } = JSON.parse(lines[2] ?? '') as { prev_hash: string };
    expect(culprit).toEqual({
      line: 2,
      says: 'This line was changed after it was written, or lines after it were removed.',
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

  it('says of a signed log that lines are missing', async () => {
    const { lines } = checkpointedLog(6, own.signer);
    const { culprit } = await verify(lines.toSpliced(2, 1), [own.publicKey]);
    expect(culprit).toMatchObject({
      line: 3,
      says: 'Lines before this one are missing, or it was put here.',
    });
  });
});
