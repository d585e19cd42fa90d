import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditJson } from '../../../../../src/http/wire/dashboard/audit-json.ts';
import {
  type MergedPage,
  mergeLogs,
} from '../../../../../src/ui/dashboard/views/audit/merge-logs.ts';
import {
  hrefOfAll,
  type MergedPlace,
  readPlace,
} from '../../../../../src/ui/dashboard/views/audit/wanted.ts';
import { logOf, testKey } from '../../../../actors/records/log/log-of.ts';
import { runs } from '../../../../helpers/runs.ts';

const nothing = { event: '', task: '', decision: '', from: '', to: '' };
const latest: MergedPlace = { before: new Map(), until: '' };
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

/** Serves lines as the dashboard does, at most `most` per response. */
function readerOf(lines: readonly string[], { most = Infinity, keys = [] as unknown[] } = {}) {
  return {
    read: async (limit: number, before: number | null): Promise<AuditJson> => {
      const end = Math.min(before ?? lines.length + 1, lines.length + 1);
      const first = Math.max(1, end - Math.min(limit, most));
      const events = lines.slice(first - 1, end - 1).map((line, index) => ({
        ...{ seq: first + index, line: line.trimEnd() },
      }));
      return { events, first, total: lines.length, pruned: null, keys, path: '', files: [] };
    },
  };
}

type Readers = Parameters<typeof mergeLogs>[0];

function read(readers: Readers, place = latest, perPage = 100): Promise<MergedPage> {
  const { signal } = new AbortController();
  return mergeLogs(readers, { wanted: nothing, place, perPage, isChecked: true, signal });
}

const placesIn = ({ lines }: MergedPage): string[] =>
  lines.map(({ agent, line }) => `${agent} ${line.line}`);

function linesAt(...minutes: number[]): string[] {
  return logOf(minutes.map((minute) => ({ event: 'x', ts: at(minute) }))).lines;
}

describe('the log over several agents', () => {
  it('is merged by time, and each line is verified in its own log', async () => {
    const { signer, publicKey } = testKey('k', 1);
    const own = logOf(
      [1, 3].map((n) => ({ event: 'x', ts: at(n) })),
      undefined,
      signer,
    );
    const changed = linesAt(2, 4, 6).map((line) => line.replace(at(2), at(1)));
    const page = await read(
      new Map([
        ['signed', readerOf(own.lines, { keys: [publicKey] })],
        ['changed', readerOf(changed)],
      ]),
    );
    expect(
      page.lines.map(({ agent, line, state }) => [
        agent,
        line.line,
        state?.chain,
        state?.signature,
      ]),
    ).toEqual(
      [
        ['changed', 1, 'fits', 'unsigned'],
        ['signed', 1, 'fits', 'good'],
        ['signed', 2, 'fits', 'good'],
        ['changed', 2, 'broken', 'unsigned'],
        ['changed', 3, 'fits', 'unsigned'],
      ].toSorted((one, other) => timeOf(one) - timeOf(other)),
    );
    expect([page.older, page.problems]).toEqual([null, []]);

    function timeOf([agent, line]: unknown[]): number {
      return agent === 'signed' ? [1, 3][Number(line) - 1]! + 0.5 : [1, 4, 6][Number(line) - 1]!;
    }
  });

  it('has the lines of the others if one log cannot be read, or has lines without a time', async () => {
    const failing = { read: () => Promise.reject(new Error('the audit log is no file')) };
    const bad = [linesAt(1)[0]!, 'no line\n', linesAt(5)[0]!];
    const page = await read(
      new Map<string, Readers extends ReadonlyMap<string, infer R> ? R : never>([
        ['failing', failing],
        ['bad', readerOf(bad)],
        ['good', readerOf(linesAt(2, 6))],
      ]),
    );
    expect(placesIn(page)).toEqual(['bad 1', 'good 1', 'bad 2', 'bad 3', 'good 2']);
    expect(page.problems).toEqual([{ agent: 'failing', text: 'the audit log is no file' }]);
  });

  it('has each line on exactly one of its pages, in order, with an address for each page', async () => {
    const logs = fc.array(
      fc
        .array(fc.nat({ max: 30 }), { maxLength: 25 })
        .map((some) => some.toSorted((a, b) => a - b)),
      { minLength: 1, maxLength: 4 },
    );
    const sizes = { perPage: fc.integer({ min: 1, max: 9 }), most: fc.integer({ min: 1, max: 9 }) };
    await fc.assert(
      fc.asyncProperty(logs, fc.record(sizes), async (all, { perPage, most }) => {
        const readers = new Map(
          all.map((minutes, index) => [`agent-${index}`, readerOf(linesAt(...minutes), { most })]),
        );
        const seen: { place: string; at: string }[] = [];
        for (let place: MergedPlace | null = latest; place !== null; ) {
          const page = await read(readers, place, perPage);
          expect(page.lines.length).toBeLessThanOrEqual(perPage);
          const times = page.lines.map(({ line }) => line.happening.at);
          seen.unshift(
            ...placesIn(page).map((name, index) => ({ place: name, at: times[index]! })),
          );
          const address: string = page.older === null ? '' : hrefOfAll({}, page.older);
          place =
            page.older === null ? null : readPlace(new URLSearchParams(address.split('?')[1]));
          expect(place).toEqual(page.older);
        }
        const wanted = all.flatMap((minutes, index) =>
          minutes.map((_, line) => `agent-${index} ${line + 1}`),
        );
        expect(seen.map(({ place }) => place).toSorted()).toEqual(wanted.toSorted());
        expect(seen.map((one) => one.at)).toEqual(seen.map((one) => one.at).toSorted());
      }),
      { numRuns: runs(200) },
    );
  });
});
