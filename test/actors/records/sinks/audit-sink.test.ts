import { describe, expect, it, vi } from 'vitest';
import { happened, sinkInHand } from './target-in-hand.ts';

const roomy = { lines: 100, bytes: 10_000 };
const up = { sink: 'hand', state: 'up', error: null };
const down = { sink: 'hand', state: 'down' };

describe('a sink of the audit log', () => {
  it('connects, delivers waiting lines in batches, and logs nothing on success', async () => {
    const hand = sinkInHand(roomy);
    const stats = { name: 'hand', state: 'connecting', delivered: 0, dropped: 0, lag: 0 };
    expect(hand.sink.stats()).toEqual(stats);
    hand.offer('a', 'b', 'c');
    expect(hand.sink.stats()).toEqual({ ...stats, lag: 3 });
    await happened();
    expect(hand.asked()).toEqual(['disconnect', 'connect']);
    await hand.connects();
    expect(hand.sink.stats()).toEqual({ ...stats, state: 'open', lag: 3 });
    await hand.takes();
    expect(hand.sink.stats()).toEqual({ ...stats, state: 'open', delivered: 2, lag: 1 });
    await hand.takes();
    expect(hand.sink.stats()).toEqual({ ...stats, state: 'open', delivered: 3 });
    hand.offer('d');
    await happened();
    expect(hand.asked()).toEqual(['deliver a b', 'deliver c', 'deliver d']);
    await hand.takes();
    expect(hand.sink.stats()).toEqual({ ...stats, state: 'open', delivered: 4 });
    expect(hand.flips()).toEqual([]);
  });

  it('keeps undelivered lines, and delivers them on a new connection', async () => {
    const hand = sinkInHand(roomy);
    hand.offer('a', 'b', 'c');
    await hand.connects();
    await hand.fails(new Error('it broke'));
    expect(hand.flips()).toEqual([{ ...down, dropped: 0, error: 'it broke' }]);
    expect(hand.sink.stats()).toMatchObject({ state: 'backoff', delivered: 0, lag: 3 });
    await happened(() => hand.clock.advance(1_000));
    await hand.connects();
    expect(hand.flips()).toEqual([]);
    await hand.takes();
    expect(hand.flips()).toEqual([{ ...up, dropped: 0 }]);
    expect(hand.asked()).toEqual([
      'disconnect',
      'connect',
      'deliver a b',
      'disconnect',
      'connect',
      'deliver a b',
      'deliver c',
    ]);
  });

  it('is reported as up at the connection where nothing waits', async () => {
    const hand = sinkInHand(roomy);
    await hand.refuses(new Error('nobody there'));
    expect(hand.flips()).toEqual([{ ...down, dropped: 0, error: 'nobody there' }]);
    await happened(() => hand.clock.advance(1_000));
    await hand.connects();
    expect(hand.flips()).toEqual([{ ...up, dropped: 0 }]);
  });

  it('is reported as down once, for any number of failures, without a reason where none is given', async () => {
    const hand = sinkInHand(roomy);
    await hand.refuses('a text');
    await happened(() => hand.clock.advance(1_000));
    await hand.refuses(new Error('again'));
    expect(hand.flips()).toEqual([{ ...down, dropped: 0, error: 'no reason given' }]);
  });

  it('delivers nothing on a connection that its receiver closed, and does not count that', async () => {
    const hand = sinkInHand(roomy);
    hand.offer('a', 'b', 'c', 'd');
    await hand.connects();
    const arrivesLate = hand.thisDelivery();
    await hand.hangsUp();
    expect(hand.flips()).toEqual([{ ...down, dropped: 0, error: 'the other end hung up' }]);
    expect(hand.signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    await happened(() => hand.clock.advance(1_000));
    await hand.connects();
    await arrivesLate();
    expect(hand.sink.stats()).toMatchObject({ state: 'open', delivered: 0, lag: 4 });
    await hand.takes();
    expect(hand.asked().filter((what) => what.startsWith('deliver'))).toEqual([
      'deliver a b',
      'deliver a b',
      'deliver c d',
    ]);
  });

  it('keeps a line for the next connection when the receiver closed before it arrived', async () => {
    const hand = sinkInHand(roomy);
    await hand.connects();
    await hand.hangsUp();
    hand.asked();
    await happened(() => hand.offer('a'));
    expect(hand.asked()).toEqual([]);
    await happened(() => hand.clock.advance(1_000));
    await hand.connects();
    expect(hand.asked()).toEqual(['disconnect', 'connect', 'deliver a']);
  });

  it('waits a second after a failure, longer after more, and a second again after a delivery', async () => {
    const hand = sinkInHand(roomy);
    const rests = async (milliseconds: number) => {
      await happened(() => hand.clock.advance(milliseconds - 1));
      expect(hand.sink.stats().state).toBe('backoff');
      await happened(() => hand.clock.advance(1));
      expect(hand.sink.stats().state).toBe('connecting');
    };
    await hand.refuses(new Error('no'));
    await rests(1_000);
    await hand.refuses(new Error('no'));
    await rests(2_000);
    hand.offer('a');
    await hand.connects();
    await hand.takes();
    await hand.hangsUp();
    await rests(1_000);
  });
});

describe('an overflowing sink', () => {
  it('drops new lines, reports their number, and is up again once it is half empty', async () => {
    const hand = sinkInHand({ lines: 4, bytes: 1_000 }, { lines: 1, bytes: 1_000 });
    await hand.connects();
    hand.offer('a', 'b', 'c', 'd', 'e', 'f');
    const error = 'more lines wait than the queue holds';
    expect(hand.flips()).toEqual([{ ...down, dropped: 2, error }]);
    hand.offer('g');
    expect(hand.flips()).toEqual([]);
    await happened();
    await hand.takes();
    expect([hand.flips(), hand.sink.stats().lag]).toEqual([[], 3]);
    await hand.takes();
    expect(hand.flips()).toEqual([{ ...up, dropped: 1 }]);
    expect(hand.sink.stats()).toMatchObject({ state: 'open', delivered: 2, dropped: 3, lag: 2 });
    hand.offer('h', 'i', 'j');
    expect(hand.flips()).toEqual([{ ...down, dropped: 1, error }]);
    for (let line = 0; line < 4; line += 1) await hand.takes();
    expect(hand.asked().slice(2)).toEqual(
      ['a', 'b', 'c', 'd', 'h', 'i'].map((line) => `deliver ${line}`),
    );
  });

  it('accepts a short line after a dropped one, and reports one missing line', () => {
    const hand = sinkInHand({ lines: 9, bytes: 6 });
    hand.offer('abc', 'too long', 'd');
    expect(hand.sink.stats()).toMatchObject({ dropped: 1, lag: 2 });
    expect(hand.flips()).toMatchObject([{ ...down, dropped: 1 }]);
  });

  it('reports nothing when all lines fit', () => {
    const hand = sinkInHand({ lines: 3, bytes: 6 });
    hand.offer('a', 'b', 'c');
    expect([hand.flips(), hand.sink.stats().lag]).toEqual([[], 3]);
  });
});

describe('closing a sink', () => {
  it('waits for lines in progress, and no longer', async () => {
    const hand = sinkInHand(roomy);
    await hand.connects();
    hand.offer('a', 'b', 'c');
    await happened();
    let isClosed = false;
    const closing = hand.sink.close(2_000).then(() => (isClosed = true));
    await hand.takes();
    expect([isClosed, hand.clock.pending]).toEqual([false, 1]);
    await hand.takes();
    await closing;
    expect(hand.clock.pending).toBe(0);
    expect(hand.sink.stats()).toMatchObject({ state: 'closed', delivered: 3, lag: 0 });
    expect(hand.asked()).toEqual([
      'disconnect',
      'connect',
      'deliver a b',
      'deliver c',
      'disconnect',
    ]);
  });

  it('drops lines that take longer', async () => {
    const hand = sinkInHand(roomy);
    await hand.connects();
    hand.offer('a');
    await happened();
    const closing = hand.sink.close(2_000);
    await happened(() => hand.clock.advance(1_999));
    expect(hand.sink.stats().state).toBe('open');
    hand.clock.advance(1);
    await closing;
    expect(hand.sink.stats()).toMatchObject({ state: 'closed', delivered: 0, lag: 1 });
    expect(hand.signals.at(-1)?.aborted).toBe(true);
  });

  it.each([
    ['nothing waits', async ({ connects }) => connects()],
    ['it is not connected', async ({ offer }) => offer('a')],
    [
      'it rests',
      async ({ offer, refuses }) => {
        offer('a');
        await refuses(new Error('no'));
      },
    ],
  ] satisfies [string, (hand: ReturnType<typeof sinkInHand>) => Promise<void>][])(
    'waits for nothing while %s',
    async (_, before) => {
      const hand = sinkInHand(roomy);
      await before(hand);
      await hand.sink.close(2_000);
      expect([hand.sink.stats().state, hand.clock.pending]).toEqual(['closed', 0]);
      expect(hand.asked().at(-1)).toBe('disconnect');
    },
  );

  it('is final: no line is accepted, and a second close does nothing', async () => {
    const hand = sinkInHand(roomy);
    await hand.connects();
    await hand.sink.close(2_000);
    hand.asked();
    hand.offer('a');
    await hand.sink.close(2_000);
    expect([hand.asked(), hand.flips()]).toEqual([[], []]);
    expect(hand.sink.stats()).toMatchObject({ state: 'closed', dropped: 0, lag: 0 });
  });
});

describe('a sink whose clock has no timers', () => {
  it('closes at its first failure, and affects nothing else', async () => {
    const hand = sinkInHand(roomy);
    vi.spyOn(hand.clock, 'setTimeout').mockImplementation(() => {
      throw new Error('no timers');
    });
    await hand.refuses(new Error('nobody there'));
    hand.offer('a');
    expect(hand.sink.stats()).toMatchObject({ state: 'closed', lag: 0 });
    expect(hand.flips()).toEqual([{ ...down, dropped: 0, error: 'nobody there' }]);
    await hand.sink.close(2_000);
  });
});
