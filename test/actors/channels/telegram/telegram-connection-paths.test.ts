import { describe, expect, vi } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { connectionMachine } from '../../../../src/machines/channels/connection-machine.ts';
import { walkChart } from '../../../helpers/chart-walk.ts';
import {
  carries,
  type LinkedService,
  Openings,
  ofEach,
  refusedForGood,
} from '../../../helpers/connection-happenings.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { patient } from '../../../helpers/patient.ts';
import { startTelegram } from './a-telegram.ts';

/** An adapter with a Telegram that answers the bot's identity when a test lets it. */
async function openTelegram(actors: readonly AnyActorRef[]) {
  const openings = new Openings();
  const fake = await FakeTelegram.start();
  const { clock, adapter, heard } = await startTelegram({
    fake,
    outbound: {
      async fetch(input, init) {
        if (String(input).endsWith('/getMe')) await openings.hold(init?.signal);
        return fetch(input, init);
      },
    },
  });
  const faultOf = (isLasting: boolean) => ({ status: isLasting ? 401 : 502 });
  return {
    ...{ actors, openings, clock, fake },
    refuse: (isLasting: boolean) => fake.fail('getMe', faultOf(isLasting)),
    async breakOff(isLasting: boolean) {
      const before = heard.length;
      fake.fail('getUpdates', faultOf(isLasting));
      fake.say({ text: 'Hi' });
      await vi.waitFor(() => expect(heard).toHaveLength(before + 1), patient);
    },
    async settle() {
      const asked = fake.called('getUpdates').length;
      clock.advance(30_000);
      fake.silence();
      await fake.reached('getUpdates', asked + 1);
      clock.advance(30_000);
    },
    stop: () => adapter.stop(),
  } satisfies LinkedService & { fake: FakeTelegram };
}

describe('the shortest paths of a connection to Telegram', () => {
  walkChart(connectionMachine, { ...ofEach, ...refusedForGood('maybe') }, openTelegram, {
    // What looks as if a person had to fix it is believed after eight failures.
    fingerprint: ({ context }) => Math.min(context.failures, 8),
    passing: ['draining.opening', 'draining.pausing'],
    look: ({ fake }, { value }) => expect(fake.isPolled).toBe(carries(value)),
  });
});
