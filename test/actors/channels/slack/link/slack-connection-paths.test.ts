import { describe, expect, vi } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { connectionMachine } from '../../../../../src/machines/channels/connection-machine.ts';
import { type Happenings, walkChart } from '../../../../helpers/chart-walk.ts';
import {
  carries,
  Openings,
  ofEach,
  type RenewingService,
  refusedForGood,
  renewed,
} from '../../../../helpers/connection-happenings.ts';
import { patient } from '../../../../helpers/patient.ts';
import { openSlackRig } from '../slack-rig.ts';

/** An adapter with a Slack that answers the app's identity when a test lets it. */
async function openSlack(actors: readonly AnyActorRef[]) {
  const openings = new Openings();
  const { slack, clock, adapter, connect } = await openSlackRig({
    hold: async (method) => (method === 'auth.test' ? openings.hold() : undefined),
  });
  await connect('connecting');
  return {
    ...{ actors, openings, clock, slack },
    refuse: (isLasting: boolean) =>
      slack.fail({
        method: 'auth.test',
        fault: { kind: 'refuse', error: isLasting ? 'invalid_auth' : 'internal_error' },
      }),
    breakOff: (isLasting: boolean) =>
      isLasting ? slack.socket.retire('link_disabled') : slack.socket.drop(false),
    retire: () => slack.socket.retire('refresh_requested'),
    async retireNew() {
      slack.socket.spoil('silence', 1);
      await openings.letGo();
      const before = actors.at(-1)?.getSnapshot();
      await vi.waitFor(() => {
        slack.socket.retire('warning');
        expect(actors.at(-1)?.getSnapshot()).not.toBe(before);
      }, patient);
    },
    stop: () => adapter.stop(),
  } satisfies RenewingService & { slack: unknown };
}

type World = Awaited<ReturnType<typeof openSlack>>;

const happenings: Happenings<World> = { ...ofEach, ...refusedForGood(true), ...renewed };

describe('the shortest paths of a connection to Slack', () => {
  walkChart(connectionMachine, happenings, openSlack, {
    // Whether the service has to be mended is forgotten with the next link that is up.
    fingerprint: (snapshot) =>
      snapshot.matches({ draining: 'pausing' }) && snapshot.context.fault.lasting,
    look: ({ slack }, { value }) => expect(slack.connections).toBe(carries(value) ? 1 : 0),
  });
});
