import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import type { CardParts } from '../../../src/machines/card/agent-card.ts';
import { cardMachine, settlingTime } from '../../../src/machines/card/card-machine.ts';
import { someParts } from '../../actors/card/card-fixtures.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

/** A card whose files are read when a test lets it. */
function startCard() {
  const clock = new ManualClock(0);
  const readings: PromiseWithResolvers<CardParts>[] = [];
  const published: CardParts[] = [];
  const failures: unknown[] = [];
  let underWay = 0;
  const actor = createActor(
    cardMachine.provide({
      actors: {
        gatherParts: fromPromise(() => {
          const reading = Promise.withResolvers<CardParts>();
          underWay += 1;
          readings.push(reading);
          return reading.promise;
        }),
      },
      actions: {
        publish: (_, { parts }) => void published.push(parts),
        noteBroken: (_, { error }) => void failures.push(error),
      },
    }),
    { clock },
  );
  actor.start();
  return {
    clock,
    readings,
    published,
    failures,
    value: () => actor.getSnapshot().value,
    /** How many readings have begun and not ended. */
    underWay: () => underWay,
    change: () => actor.send({ type: 'files.changed' }),
    /** Ends the last reading and lets its end arrive. */
    async settle(outcome: CardParts | Error) {
      const reading = readings.at(-1);
      underWay = 0;
      if (outcome instanceof Error) reading?.reject(outcome);
      else reading?.resolve(outcome);
      for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    },
  };
}

const newer = someParts({ version: '2.0.0' });

describe('an agent card whose files change', () => {
  it('is read once for several changes, after they settle', async () => {
    const { clock, change, readings, published, settle, value } = startCard();
    change();
    clock.advance(settlingTime - 1);
    change();
    expect({ value: value(), readings: readings.length }).toEqual({ value: 'stale', readings: 0 });
    clock.advance(1);
    await settle(newer);
    expect({ value: value(), readings: readings.length, published }).toEqual({
      value: 'published',
      readings: 1,
      published: [newer],
    });
  });

  it('is read once more when a file changes during the read', async () => {
    const { clock, change, readings, published, settle, value } = startCard();
    change();
    clock.advance(settlingTime);
    change();
    expect(value()).toEqual({ gathering: 'overtaken' });
    await settle(newer);
    clock.advance(settlingTime);
    const last = someParts({ version: '3.0.0' });
    await settle(last);
    expect({ value: value(), readings: readings.length, published }).toEqual({
      value: 'published',
      readings: 2,
      published: [newer, last],
    });
  });

  it('keeps the last valid card until the files are valid again', async () => {
    const { clock, change, published, failures, settle, value } = startCard();
    change();
    clock.advance(settlingTime);
    await settle(new Error('broken'));
    expect({ value: value(), published, failures, timers: clock.pending }).toEqual({
      value: 'broken',
      published: [],
      failures: [new Error('broken')],
      timers: 0,
    });
    change();
    clock.advance(settlingTime);
    await settle(newer);
    expect({ value: value(), published }).toEqual({ value: 'published', published: [newer] });
  });

  it('reports no error that a later change has replaced', async () => {
    const { clock, change, failures, settle, value } = startCard();
    change();
    clock.advance(settlingTime);
    change();
    await settle(new Error('half written'));
    expect({ value: value(), failures }).toEqual({ value: 'stale', failures: [] });
  });

  it('reads again after the last change, and never twice at the same time', async () => {
    const step = fc.oneof(
      fc.constant('change' as const),
      fc.constantFrom(newer, new Error('broken')),
      fc.integer({ min: 1, max: 250 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, change, readings, underWay, settle, value } = startCard();
        let readingsAtChange = -1;
        for (const next of steps) {
          if (next === 'change') {
            change();
            readingsAtChange = readings.length;
          } else if (typeof next === 'number') clock.advance(next);
          else await settle(next);
          expect(underWay()).toBeLessThanOrEqual(1);
        }
        for (let round = 0; round < 3; round += 1) {
          await settle(newer);
          clock.advance(settlingTime);
        }
        await settle(newer);
        expect(readings.length).toBeGreaterThan(readingsAtChange);
        expect(['published', 'broken']).toContain(value());
      }),
    );
  });

  it('keeps the current card when its ports are not connected', async () => {
    const clock = new ManualClock(0);
    const actor = createActor(cardMachine, { clock }).start();
    actor.send({ type: 'files.changed' });
    clock.advance(settlingTime);
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    expect(actor.getSnapshot()).toMatchObject({ status: 'active', value: 'broken' });
    actor.stop();
  });
});
