import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseAfter } from '../../../src/machines/channels/connection-machine.ts';
import { runs } from '../../helpers/runs.ts';
import { lasting, passing, startConnection } from '../../helpers/started-connection.ts';

describe('the pause before the next link', () => {
  it('doubles from one second to one minute, with random jitter', () => {
    const pauses = [1, 2, 3, 6, 7, 60, 5_000].map((failures) => [
      pauseAfter({ failures, fault: passing }, 0),
      pauseAfter({ failures, fault: passing }, 0.5),
      pauseAfter({ failures, fault: passing }, 1),
    ]);
    expect(pauses).toEqual([
      [0, 500, 1_000],
      [0, 1_000, 2_000],
      [0, 2_000, 4_000],
      [0, 16_000, 32_000],
      [0, 30_000, 60_000],
      [0, 30_000, 60_000],
      [0, 30_000, 60_000],
    ]);
  });

  it('is the wait that the service requests, up to five minutes', () => {
    const asking = (retryAfter: number) =>
      pauseAfter({ failures: 1, fault: { ...passing, retryAfter } }, 1);
    expect([asking(400), asking(7_000), asking(86_400_000)]).toEqual([1_000, 7_000, 300_000]);
  });

  it('is five minutes for a fault that a person must fix', () => {
    expect(pauseAfter({ failures: 1, fault: lasting }, 0)).toBe(300_000);
  });
});

describe('the connection', () => {
  it('is connected once its link is up', () => {
    const { states, up, live } = startConnection();
    up('link-1');
    expect({ states, live: live() }).toEqual({
      states: ['connecting', 'connected'],
      live: ['link-1'],
    });
  });

  it('opens another link after a pause when one fails, and states the reason', () => {
    const connection = startConnection();
    connection.down('link-1');
    expect({ state: connection.state(), live: connection.live() }).toEqual({
      state: 'backoff',
      live: [],
    });
    connection.clock.advance(999);
    expect(connection.opened).toEqual(['link-1']);
    connection.clock.advance(1);
    expect({ state: connection.state(), live: connection.live(), told: connection.told }).toEqual({
      state: 'connecting',
      live: ['link-2'],
      told: ['the line broke'],
    });
  });

  it('times out a link that sends nothing', () => {
    const { clock, state, live, told } = startConnection();
    clock.advance(30_000);
    expect({ state: state(), live: live(), told }).toEqual({
      state: 'backoff',
      live: [],
      told: ['the service did not answer in time'],
    });
  });

  it('resets its failures when a link has been up for a minute', () => {
    const { clock, down, up, failures } = startConnection();
    down('link-1');
    clock.advance(1_000);
    up('link-2');
    const fresh = failures();
    clock.advance(60_000);
    expect([fresh, failures()]).toEqual([1, 0]);
  });

  it('opens the next link before it closes one that announced its end', () => {
    const { clock, up, leaving, state, states, live } = startConnection();
    up('link-1');
    clock.advance(60_000);
    leaving('link-1');
    const meanwhile = { state: state(), live: live() };
    up('link-2');
    expect({ meanwhile, live: live(), states }).toEqual({
      meanwhile: { state: 'draining', live: ['link-1', 'link-2'] },
      live: ['link-2'],
      states: ['connecting', 'connected', 'draining', 'connected'],
    });
  });

  it('waits for the opening link when the old link is lost first', () => {
    const { clock, up, leaving, down, state, live, opened } = startConnection();
    up('link-1');
    clock.advance(60_000);
    leaving('link-1');
    down('link-1');
    const meanwhile = { state: state(), live: live() };
    up('link-2');
    expect({ meanwhile, state: state(), opened }).toEqual({
      meanwhile: { state: 'connecting', live: ['link-2'] },
      state: 'connected',
      opened: ['link-1', 'link-2'],
    });
  });

  it('keeps the old link while its replacement fails', () => {
    const { clock, up, leaving, down, state, live } = startConnection();
    up('link-1');
    clock.advance(60_000);
    leaving('link-1');
    down('link-2', lasting);
    const first = { state: state(), live: live() };
    clock.advance(300_000);
    expect({ first, later: { state: state(), live: live() } }).toEqual({
      first: { state: 'draining', live: ['link-1'] },
      later: { state: 'draining', live: ['link-1', 'link-3'] },
    });
  });

  it('waits when the old link is lost before the next one is opened', () => {
    const { clock, up, leaving, down, state } = startConnection();
    up('link-1');
    clock.advance(60_000);
    leaving('link-1');
    down('link-2');
    down('link-1');
    const first = state();
    clock.advance(1_000);
    expect([first, state()]).toEqual(['backoff', 'connecting']);
  });

  it('has failed when the old link is lost and no new link can be opened without a person', () => {
    const { clock, up, leaving, down, state } = startConnection();
    up('link-1');
    clock.advance(60_000);
    leaving('link-1');
    down('link-2', lasting);
    down('link-1');
    expect(state()).toBe('failed');
  });

  it('increases the wait for a service that closes each new link', () => {
    const { clock, up, leaving, opened, live } = startConnection();
    up('link-1');
    const counts = [1, 2, 3, 4].map((count) => {
      leaving(`link-${count}`);
      const before = opened.length;
      clock.advance(1_000 * 2 ** (count - 1) - 1);
      const early = opened.length;
      clock.advance(1);
      up(`link-${count + 1}`);
      return [before, early, opened.length];
    });
    expect({ counts, live: live() }).toEqual({
      counts: [
        [1, 1, 2],
        [2, 2, 3],
        [3, 3, 4],
        [4, 4, 5],
      ],
      live: ['link-5'],
    });
  });

  it('has failed when only a person can fix it, and retries after five minutes', () => {
    const { clock, down, state, live } = startConnection();
    down('link-1', lasting);
    const first = { state: state(), live: live() };
    clock.advance(299_999);
    const early = state();
    clock.advance(1);
    expect({ first, early, later: { state: state(), live: live() } }).toEqual({
      first: { state: 'failed', live: [] },
      early: 'failed',
      later: { state: 'connecting', live: ['link-2'] },
    });
  });

  it('ignores events of closed links', () => {
    const { clock, down, up, leaving, state, opened } = startConnection();
    down('link-1');
    clock.advance(1_000);
    up('link-1');
    leaving('link-1');
    down('link-1', lasting);
    expect({ state: state(), opened }).toEqual({
      state: 'connecting',
      opened: ['link-1', 'link-2'],
    });
  });

  it('closes all links in every state', () => {
    const ways: ((connection: ReturnType<typeof startConnection>) => void)[] = [
      () => undefined,
      ({ up }) => up('link-1'),
      ({ down }) => down('link-1'),
      ({ down }) => down('link-1', lasting),
      ({ up, leaving, clock }) => {
        up('link-1');
        clock.advance(60_000);
        leaving('link-1');
      },
      ({ up, leaving }) => {
        up('link-1');
        leaving('link-1');
      },
    ];
    const left = ways.map((way) => {
      const connection = startConnection();
      way(connection);
      connection.close();
      return [connection.state(), connection.live(), connection.clock.pending];
    });
    expect(left).toEqual(ways.map(() => ['closed', [], 0]));
  });

  it('has at most two links, reconnects, and reports connected only while a link is up', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('up', 'leaving', 'down', 'broken'), back: fc.nat(2) }),
      fc.record({ kind: fc.constant('wait'), back: fc.integer({ min: 1, max: 400_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const connection = startConnection();
        const isUp = new Set<string>();
        for (const { kind, back } of steps) {
          const link = connection.opened.at(-1 - back);
          if (kind === 'wait') connection.clock.advance(back);
          else if (link !== undefined && connection.open.has(link)) {
            if (kind === 'up') isUp.add(link);
            if (kind === 'down' || kind === 'broken') isUp.delete(link);
            if (kind === 'up') connection.up(link);
            else if (kind === 'leaving') connection.leaving(link);
            else connection.down(link, kind === 'broken' ? lasting : passing);
          }
          const state = connection.state();
          expect(connection.live().length).toBeLessThanOrEqual(2);
          expect(state).not.toBe('closed');
          if (state === 'connected' || state === 'draining') {
            expect(connection.live().some((name) => isUp.has(name))).toBe(true);
          } else if (state === 'backoff' || state === 'failed') {
            expect(connection.live()).toEqual([]);
          }
        }
        // Left alone with a service that is well again, it always comes up.
        for (let turn = 0; turn < 20 && connection.state() !== 'connected'; turn += 1) {
          const link = connection.opened.at(-1);
          if (link !== undefined && connection.open.has(link)) connection.up(link);
          connection.clock.advance(300_000);
        }
        expect(connection.state()).toBe('connected');
      }),
      { numRuns: runs(100) },
    );
  });
});
