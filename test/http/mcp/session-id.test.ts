import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SessionIds } from '../../../src/http/mcp/session-id.ts';
import type { Caller } from '../../../src/machines/domain/task.ts';

const key = Buffer.alloc(32, 1);
const ids = new SessionIds(key);

const caller: fc.Arbitrary<Caller | null> = fc.option(
  fc.record(
    {
      provider: fc.string(),
      userId: fc.string(),
      orgId: fc.string(),
      workspaceId: fc.string(),
      email: fc.string(),
    },
    { requiredKeys: ['provider', 'userId'] },
  ),
);

it('session ids are short and printable, and every daemon with the key reads them for their owner', () => {
  fc.assert(
    fc.property(caller, fc.anything(), fc.boolean(), (owner, asked, opensLinks) => {
      const made = ids.make(owner, asked, opensLinks);
      expect(made.opensLinks).toBe(opensLinks);
      expect(made.text).toMatch(/^[\x21-\x7e]{1,80}$/);
      expect(new SessionIds(key).read(made.text, owner)).toEqual(made);
    }),
  );
});

it('a session id is invalid for another caller, after a change, or with another key', () => {
  fc.assert(
    fc.property(caller, caller, fc.nat(), fc.string(), (owner, other, at, piece) => {
      const { text } = ids.make(owner, '2025-06-18', true);
      const who = (one: Caller | null) =>
        one && [one.provider, one.userId, one.orgId, one.workspaceId];
      if (JSON.stringify(who(owner)) !== JSON.stringify(who(other))) {
        expect(ids.read(text, other)).toBeNull();
      }
      const place = at % (text.length + 1);
      const changed = text.slice(0, place) + piece + text.slice(place + piece.length);
      if (changed !== text) expect(ids.read(changed, owner)).toBeNull();
      expect(new SessionIds(Buffer.alloc(32, 2)).read(text, owner)).toBeNull();
    }),
  );
});

it('the agreed version is the requested one, or the latest', () => {
  const agreed = ['2024-11-05', '2025-06-18', '1999-01-01', null].map(
    (asked) => ids.make(null, asked, false).protocolVersion,
  );
  expect(agreed).toEqual(['2024-11-05', '2025-06-18', '2025-11-25', '2025-11-25']);
});

it('session ids from before client capabilities are read', () => {
  const head = '1.2025-06-18.AAAAAAAAAAAAAAAA';
  const signed = JSON.stringify([head, 'idp', 'ann', null, null]);
  const text = `${head}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  const read = { text, protocolVersion: '2025-06-18', opensLinks: false };
  expect(ids.read(text, { provider: 'idp', userId: 'ann' })).toEqual(read);
});
