import { createHash, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../src/actors/ports/audit-event.ts';
import { chainLine, GENESIS } from '../../../../src/actors/records/log/audit.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';
import { keyOf } from './log-of.ts';
import { verifyText } from './verify-text.ts';

const ts = '2026-07-01T09:00:00.000Z';
const own = keyOf('k-1', Buffer.alloc(32, 7));

const maximumLineBytes = 4 * 1024 * 1024;

const names = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'sif',
    'sig',
    'sih',
    'si',
    'kid',
    'prev_hash',
    'stage_id',
    'zz',
    '__proto__',
    '1',
  ),
);

describe('chainLine with a signer', () => {
  it('signs the canonical form without sig, including key and link', () => {
    const { line, hash } = chainLine({ event: 'x', ts, trace_id: 'aa' }, GENESIS, own.signer);
    const unsigned = `{"event":"x","kid":"k-1","prev_hash":"${GENESIS}","trace_id":"aa","ts":"${ts}"}`;
    const sig = own.signer.sign(Buffer.from(unsigned));
    expect(line).toBe(
      `{"event":"x","kid":"k-1","prev_hash":"${GENESIS}","sig":"${sig}","trace_id":"aa","ts":"${ts}"}`,
    );
    expect(hash).toBe(createHash('sha256').update(line).digest('hex'));
  });

  it('signs a log without a chain too', () => {
    const { line } = chainLine({ event: 'x', ts }, null, own.signer);
    const sig = own.signer.sign(Buffer.from(`{"event":"x","kid":"k-1","ts":"${ts}"}`));
    expect(line).toBe(`{"event":"x","kid":"k-1","sig":"${sig}","ts":"${ts}"}`);
  });

  it('drops a key, a signature and a link of the event', () => {
    const event = { event: 'x', ts, kid: 'thief', sig: 'c2ln', prev_hash: 'ff' };
    expect(chainLine(event, null).line).toBe(`{"event":"x","ts":"${ts}"}`);
    expect(chainLine(event, GENESIS, own.signer)).toStrictEqual(
      chainLine({ event: 'x', ts }, GENESIS, own.signer),
    );
  });

  it('writes any event in canonical form, with a valid signature', async () => {
    const anyEvent = fc.dictionary(names, fc.anything({ maxDepth: 2 }), { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(anyEvent, async (members) => {
        const event = { event: 'x', ts, ...members } as AuditEvent;
        const { line } = chainLine(event, GENESIS, own.signer);
        const { sig, ...unsigned } = JSON.parse(line) as JsonObject;
        expect(line).toBe(canonicalize({ ...unsigned, sig: sig! }));
        const bytes = Buffer.from(canonicalize(unsigned)!);
        const signature = Buffer.from(String(sig), 'base64');
        expect(verify(null, bytes, own.privateKey, signature)).toBe(true);
        expect(await verifyText([`${line}\n`], { keys: [own.publicKey] })).toMatchObject({
          ok: true,
          signed: 1,
        });
      }),
      { numRuns: runs(300) },
    );
  });

  it('leaves room for the signature in a line of 4 MiB', async () => {
    const lineOf = (last: number) => {
      const long = Array.from({ length: 255 }, () => 'x'.repeat(16 * 1024));
      const fields = { long, last: 'x'.repeat(last) };
      return chainLine({ event: 'x', ts, fields }, GENESIS, own.signer).line;
    };
    const room = maximumLineBytes - Buffer.byteLength(lineOf(0));
    const full = lineOf(room);
    expect(Buffer.byteLength(full)).toBe(maximumLineBytes);
    expect(await verifyText([`${full}\n`], { keys: [own.publicKey] })).toMatchObject({ ok: true });
    expect(JSON.parse(lineOf(room + 1)).fields).toStrictEqual({
      cut: `fields left out: the line had ${maximumLineBytes - 97 + 1} bytes`,
    });
  });

  it('throws the error of a failing signer', () => {
    const broken = {
      kid: 'k',
      sign() {
        throw new Error('no key');
      },
    };
    expect(() => chainLine({ event: 'x', ts }, GENESIS, broken)).toThrow('no key');
  });
});
