import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AuditEvent } from '../../src/actors/ports/audit-event.ts';
import { AuthLog } from '../../src/http/auth-log.ts';
import { ManualClock } from '../helpers/manual-clock.ts';

function logged() {
  const clock = new ManualClock(0);
  const events: AuditEvent[] = [];
  const log = new AuthLog({ clock, record: async (event) => void events.push(event) });
  const event = (name: string): AuditEvent => ({ event: name, ts: '' });
  /** How many refusals the lines stand for. */
  const total = () => events.reduce((sum, { fields }) => sum + Number(fields?.['count'] ?? 1), 0);
  return { clock, events, log, event, total };
}

it('every refusal is counted once, for any number of kinds at any time', async () => {
  const refusal = fc.record({
    kind: fc.nat(5),
    pause: fc.constantFrom(0, 1, 20_000, 59_999, 60_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(refusal, { maxLength: 60 }), async (refusals) => {
      const { clock, log, event, total } = logged();
      for (const { kind, pause } of refusals) {
        clock.advance(pause);
        log.refused(String(kind), event('auth_fail'));
      }
      await log.flush();
      expect(total()).toBe(refusals.length);
      expect(clock.pending).toBe(0);
    }),
  );
});

it('at most two lines a minute are logged for a kind', () => {
  const { clock, events, log, event } = logged();
  for (let second = 0; second < 600; second += 1) {
    for (let tries = 0; tries < 20; tries += 1) log.refused('kind', event('auth_fail'));
    clock.advance(1_000);
  }
  expect(events.length).toBeLessThanOrEqual(20);
});

it('two thousand kinds are remembered, and a kind is logged before it is dropped', async () => {
  const { clock, events, log, event, total } = logged();
  for (let kind = 0; kind < 2_000; kind += 1) {
    for (let tries = 0; tries < 3; tries += 1) log.refused(`k${kind}`, event(`k${kind}`));
  }
  expect([events.length, clock.pending]).toEqual([2_000, 2_000]);
  log.refused('one more', event('one more'));
  expect(events.slice(2_000)).toMatchObject([
    { event: 'k0', fields: { count: 2 } },
    { event: 'one more' },
  ]);
  expect(clock.pending).toBe(2_000);
  await log.flush();
  expect(total()).toBe(6_001);
});

it('two thousand readers are remembered, and dropped ones are logged again', () => {
  const { events, log, event } = logged();
  const read = (who: number) => log.letInToRead(`w${who}`, () => event(`w${who}`));
  for (let who = 0; who <= 2_000; who += 1) read(who);
  for (let who = 2_000; who > 0; who -= 1) read(who);
  expect(events).toHaveLength(2_001);
  read(0);
  expect(events).toHaveLength(2_002);
});
