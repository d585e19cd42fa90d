import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeCard } from '../../../src/actors/card/card-publisher.ts';
import { aSkill, someParts } from './card-fixtures.ts';

it('an encoded card has the digest of exactly the bytes that are sent', () => {
  const parts = someParts({
    version: '1.2.0',
    skills: [aSkill('a')],
    declared: [
      { key: 'ops', provider: 'static_token', scheme: { type: 'http', scheme: 'bearer' } },
      { key: 'desk', provider: 'static_token', scheme: { type: 'http', scheme: 'bearer' } },
    ],
    written: { mine: { type: 'mutualTLS' } },
  });
  const { event, versions } = encodeCard(parts);
  const { body } = versions.hybrid;
  expect(event).toStrictEqual({
    event: 'agent_card_published',
    fields: {
      name: 'refunds',
      version: '1.2.0',
      protocol_version: '0.3.0',
      url: 'http://127.0.0.1:8080',
      skill_count: 1,
      capabilities: {
        streaming: true,
        push_notifications: false,
        state_transition_history: false,
      },
      security_schemes: ['static_token'],
      card_size_bytes: body.byteLength,
      card_sha256: createHash('sha256').update(body).digest('hex'),
    },
  });
});

it('an encoded card has the same bytes for the same skills in any order, and another tag for other bytes', () => {
  const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 20 });
  const shuffled = ids.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([one, other]) => {
      const [first, second, third] = [one, other, [...one, 'one more than twelve']].map((list) =>
        encodeCard(someParts({ skills: list.map((id) => aSkill(id)) })),
      );
      expect(second?.versions).toStrictEqual(first?.versions);
      expect(third?.versions['0.3.0'].etag).not.toBe(first?.versions['0.3.0'].etag);
      const { skills } = JSON.parse(String(first?.versions['0.3.0'].body));
      expect(skills.map(({ id }: { id: string }) => id)).toStrictEqual(one.toSorted());
    }),
  );
});
