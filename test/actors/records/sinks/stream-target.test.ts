import { getEventListeners } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { failureWord, streamTarget } from '../../../../src/actors/records/sinks/stream-target.ts';

const lines = ['a\n', 'b\n'].map((line) => Buffer.from(line));

/** A target over streams that accept writes when a test lets them. */
function openTarget() {
  const opened: Writable[] = [];
  const released: Writable[] = [];
  const written: string[] = [];
  let taken: (error?: Error | null) => void = () => undefined;
  const target = streamTarget(
    () => {
      const stream = new Writable({
        write: (chunk: Buffer, _, done) => {
          written.push(String(chunk));
          taken = done;
        },
      });
      opened.push(stream.on('error', () => undefined));
      return Promise.resolve(stream);
    },
    (stream) => void released.push(stream),
  );
  return { target, opened, released, written, take: (error?: Error) => taken(error) };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const after = new Promise((resolve) => setImmediate(resolve, 'not yet'));
  return (await Promise.race([promise.then(() => 'settled'), after])) === 'settled';
}

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('a stream that accepts lines', () => {
  it('has accepted them once the system has, in one piece', async () => {
    const { target, written, take } = openTarget();
    const { signal } = new AbortController();
    await target.connect(signal);
    const delivering = target.deliver(lines, signal);
    expect([written, await isSettled(delivering)]).toEqual([['a\nb\n'], false]);
    take();
    await delivering;
    expect(listenersOf(signal)).toBe(0);
  });

  it.each([
    [Object.assign(new Error('a secret'), { code: 'EPIPE' }), 'EPIPE'],
    [new Error('a secret'), 'no reason given'],
  ])('reports why it cannot', async (cause, word) => {
    const { target, take } = openTarget();
    const { signal } = new AbortController();
    await target.connect(signal);
    const delivering = target.deliver(lines, signal);
    take(cause);
    await expect(delivering).rejects.toMatchObject({
      code: 'sink_failed',
      message: `lines cannot be written (${word})`,
      cause,
    });
    expect([failureWord(cause), listenersOf(signal)]).toEqual([word, 0]);
  });

  it('is not awaited after the sink stops', async () => {
    const { target } = openTarget();
    const stopping = new AbortController();
    await target.connect(stopping.signal);
    const delivering = target.deliver(lines, stopping.signal);
    stopping.abort(new Error('enough'));
    await expect(delivering).rejects.toThrow('enough');
  });

  it.each(['close', 'error'])('disconnects with its %s', async (event) => {
    const { target, opened } = openTarget();
    await target.connect(new AbortController().signal);
    const hungUp = target.hungUp();
    expect(await isSettled(hungUp)).toBe(false);
    opened[0]?.emit(event, new Error('it'));
    expect(await isSettled(hungUp)).toBe(true);
  });

  it('is released once, and replaced at the next connection', async () => {
    const { target, opened, released } = openTarget();
    const { signal } = new AbortController();
    target.disconnect();
    expect([released, await isSettled(target.hungUp())]).toEqual([[], true]);
    await target.connect(signal);
    target.disconnect();
    target.disconnect();
    expect(released).toEqual(opened);
    expect(await isSettled(target.hungUp())).toBe(true);
    await target.connect(signal);
    expect(opened).toHaveLength(2);
    expect(await isSettled(target.hungUp())).toBe(false);
  });

  it('accepts nothing while it is missing, until the sink stops', async () => {
    const { target } = openTarget();
    const stopping = new AbortController();
    const delivering = target.deliver(lines, stopping.signal);
    stopping.abort(new Error('enough'));
    await expect(delivering).rejects.toThrow('enough');
  });
});
