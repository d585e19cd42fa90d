import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import {
  connectionMachine,
  type LinkFault,
  pauseAfter,
} from '../../../src/machines/channels/connection-machine.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { lasting, passing, startConnection } from '../../helpers/started-connection.ts';

const doubted: LinkFault = { message: 'another reads here', lasting: 'maybe', retryAfter: null };
const silence = {
  message: 'the service did not answer in time',
  lasting: false,
  retryAfter: null,
};
const refusal = { message: 'the service hung up at once', lasting: false, retryAfter: null };

/** A connection whose first link has been up for a minute and is about to go. */
function startDraining() {
  const connection = startConnection();
  connection.up('link-1');
  connection.clock.advance(60_000);
  connection.leaving('link-1');
  return connection;
}

describe('a temporary fault', () => {
  it('needs a person after eight failed links in a row', () => {
    const pauses = [1, 7, 8, 9].map((failures) => pauseAfter({ failures, fault: doubted }, 1));
    expect(pauses).toEqual([1_000, 60_000, 300_000, 300_000]);
    expect(pauseAfter({ failures: 3, fault: null }, 1)).toBe(4_000);
  });

  it('is reported as failed with the eighth link, not earlier', () => {
    const { clock, down, state } = startConnection();
    const states = [];
    for (let link = 1; link <= 9; link += 1) {
      down(`link-${link}`, doubted);
      states.push(state());
      clock.advance(pauseAfter({ failures: link, fault: doubted }, 1));
    }
    expect(states).toEqual([...Array(7).fill('backoff'), 'failed', 'failed']);
  });
});

describe('a connection that has lost its link', () => {
  it.each<[string, LinkFault, string]>([
    ['rests', passing, 'backoff'],
    ['has failed', lasting, 'failed'],
  ])('%s, has no link and states the reason', (_name, fault, state) => {
    const connection = startConnection();
    connection.up('link-1');
    connection.down('link-1', fault);
    const { live, told, context } = connection;
    expect([connection.state(), live(), told, context()]).toEqual([
      state,
      [],
      [fault.message],
      { opened: 1, current: null, next: null, failures: 1, fault },
    ]);
  });

  it('clears the reason when another link is up, and does not yet report a failure', () => {
    const { clock, down, up, context } = startConnection();
    down('link-1');
    clock.advance(1_000);
    up('link-2');
    expect(context()).toEqual({
      opened: 2,
      current: 'link-2',
      next: null,
      failures: 1,
      fault: null,
    });
  });

  it('waits one second for a service that sent nothing', () => {
    const { clock, state, context } = startConnection();
    clock.advance(30_000);
    const resting = [state(), context()];
    clock.advance(999);
    const early = state();
    clock.advance(1);
    expect([resting, early, state()]).toEqual([
      ['backoff', { opened: 1, current: null, next: null, failures: 1, fault: silence }],
      'backoff',
      'connecting',
    ]);
  });

  it('waits when a service closes the link before it is up', () => {
    const { leaving, state, live, told, context } = startConnection();
    leaving('link-1');
    expect([state(), live(), told, context()]).toEqual([
      'backoff',
      [],
      ['the service hung up at once'],
      { opened: 1, current: null, next: null, failures: 1, fault: refusal },
    ]);
  });
});

describe('a replacement link', () => {
  it.each<[string, (connection: ReturnType<typeof startConnection>) => void, LinkFault]>([
    ['announces its own end', ({ leaving }) => leaving('link-2'), refusal],
    ['fails', ({ down }) => down('link-2'), passing],
    ['stays silent', ({ clock }) => clock.advance(30_000), silence],
  ])('that %s is closed, and another one is opened after a pause', (_name, happen, fault) => {
    const connection = startDraining();
    happen(connection);
    const { clock, live, told, context } = connection;
    const pausing = [connection.state(), live(), told, context()];
    clock.advance(999);
    const early = live();
    clock.advance(1);
    expect([pausing, early, live(), context()]).toEqual([
      [
        'draining',
        ['link-1'],
        [fault.message],
        { opened: 2, current: 'link-1', next: null, failures: 1, fault },
      ],
      ['link-1'],
      ['link-1', 'link-3'],
      { opened: 3, current: 'link-1', next: 'link-3', failures: 1, fault },
    ]);
  });

  it('that is lost does not affect the old link, which still carries all messages', () => {
    const { down, state, live } = startDraining();
    down('link-2', lasting);
    down('link-2', lasting);
    const still = [state(), live()];
    down('link-1');
    expect([still, state()]).toEqual([['draining', ['link-1']], 'failed']);
  });

  it('carries all messages once it is up', () => {
    const { up, context } = startDraining();
    up('link-2');
    expect(context()).toEqual({
      opened: 2,
      current: 'link-2',
      next: null,
      failures: 0,
      fault: null,
    });
  });
});

it('a connection whose link port is not connected keeps retrying', () => {
  const clock = new ManualClock(0);
  const actor = createActor(connectionMachine, { clock }).start();
  const first = actor.getSnapshot();
  clock.advance(30_000);
  const resting = actor.getSnapshot();
  clock.advance(1_000);
  const again = actor.getSnapshot();
  actor.stop();
  expect([first, resting, again].map(({ value, context }) => [value, context.current])).toEqual([
    ['connecting', 'link-1'],
    ['backoff', null],
    ['connecting', 'link-2'],
  ]);
});
