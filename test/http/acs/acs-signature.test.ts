import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AcsSession } from '../../../src/actors/ports/acs-sessions.ts';
import { withEntry } from '../../../src/http/acs/acs-chain.ts';
import { isSignedBy, sessionKey, signed } from '../../../src/http/acs/acs-signature.ts';
import { derivedKey, jcs, macOf } from '../../helpers/acs-client.ts';

const session = '00000000-0000-4000-8000-000000000001';
const step = { step_id: 'a', step_type: 'steps/userMessage', request_hash: 'b', timestamp: 't' };

/** Computed with the hashlib and hmac of Python. */
const golden = {
  key: '007b4ab3cfb977163cf0ac015fa9b9bfd3effc7911068b5f7488d74b610e80a2',
  mac: 'S/rUhSGN93YfhhbVZPkkH6gI7e/cFHSrmzwat09aptw=',
  first: 'da5f27199abb0f082705662f5b56cf4f31266b435cd09933e703a456c6322950',
  second: 'ee88251627ede0b555d1a8e3e367415228d76620e0ff24a4f0141f608666acf8',
};

describe('the signature of a session', () => {
  it('matches other implementations', () => {
    const key = sessionKey('k', 'a secret of thirty-two characters', session);
    expect(key.key.toString('hex')).toBe(golden.key);
    const answer = signed(key, { jsonrpc: '2.0', id: 7, result: { decision: 'deny', é: 'ü "x"' } });
    expect(answer).toMatchObject({ result: { signature: { value: golden.mac, key_id: 'k' } } });
  });

  it('covers each member of each request', () => {
    const text = fc.string({ unit: 'grapheme' });
    const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
    const members = fc.dictionary(text, value);
    fc.assert(
      fc.property(members, members, fc.string(), (params, top, secret) => {
        const key = sessionKey('k', secret, session);
        const envelope = { ...top, params };
        const mac = macOf(derivedKey(secret, session), envelope);
        const others = [
          { ...envelope, more: 1 },
          { ...envelope, params: { ...params, more: 1 } },
          ...Object.keys(params).map((name) => ({
            ...envelope,
            params: { ...params, [name]: [] },
          })),
        ];
        const given = { ...envelope, params: { ...params, signature: { value: mac } } };
        expect(isSignedBy(key, given, mac)).toBe(true);
        expect(others.map((other) => isSignedBy(key, other, mac))).not.toContain(true);
      }),
    );
  });
});

it('chained entries match other implementations', () => {
  const fresh: AcsSession = {
    ...{ agentId: 'a', keyId: 'k', methods: [], heads: [], entries: 0, isEnded: false, open: {} },
  };
  const first = withEntry(fresh, step);
  const second = withEntry(first.session, step);
  expect([first.previous, first.hash, second.previous, second.hash, second.session.heads]).toEqual([
    ...[null, golden.first, golden.first, golden.second],
    [golden.second, golden.first],
  ]);
  expect(jcs(second.entry)).toBe(jcs({ entry_id: '2', ...step }));
});
