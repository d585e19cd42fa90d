import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StreamPace } from '../../../src/actors/providers/pace-stream.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const event = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

/** A stream of a provider, read with 20 ms between two pieces. */
async function open(type = 'text/event-stream') {
  const clock = new ManualClock(0);
  let sender!: ReadableStreamDefaultController<Uint8Array>;
  let left: unknown = null;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      sender = controller;
    },
    cancel: (reason) => {
      left = reason;
    },
  });
  const headers = { 'content-type': type };
  const fetch = new StreamPace(20, clock).wrap(
    async () => new Response(body, { status: 200, headers }),
  );
  const response = await fetch('http://models.test');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read: string[] = [];
  const over = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      read.push(Buffer.from(part.value).toString());
    }
  })();
  over.catch(() => undefined);
  const send = async (...texts: (string | Uint8Array)[]) => {
    for (const text of texts) sender.enqueue(Buffer.from(text as string));
    await settle();
  };
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await settle();
  };
  return { send, pass, read, over, sender, reader, left: () => left };
}

async function settle(): Promise<void> {
  for (let count = 0; count < 10; count += 1) await turn();
}

it('the first piece passes at once, and the next ones together after the interval', async () => {
  const { send, pass, read } = await open();
  await send(event('a'));
  expect(read).toEqual([event('a')]);
  await send(event('b'));
  await pass(19);
  await send(event('c'));
  expect(read).toEqual([event('a')]);
  await pass(1);
  expect(read).toEqual([event('a'), event('bc')]);
  await pass(60);
  await send(event('d'));
  expect(read.at(-1)).toBe(event('d'));
});

it('an incomplete event waits for its rest, and passes at the end', async () => {
  const { send, pass, read, over, sender } = await open();
  const bytes = Buffer.from(event('é'));
  const cut = bytes.indexOf(0xc3) + 1;
  await send(bytes.subarray(0, cut));
  expect(read).toEqual([]);
  await send(bytes.subarray(cut), 'data: [DO');
  expect(read).toEqual([event('é')]);
  sender.close();
  await pass(20);
  await over;
  expect(read).toEqual([event('é'), 'data: [DO']);
});

it('pieces before a failure pass, then the failure', async () => {
  const { send, pass, read, over, sender } = await open();
  await send(event('a'), event('b'));
  await send(event('c'));
  sender.error(new Error('reset'));
  await pass(20);
  await pass(20);
  await expect(over).rejects.toThrow('reset');
  expect(read).toEqual([event('ab'), event('c')]);
});

it('the provider is canceled with its reader', async () => {
  const { send, reader, left } = await open();
  await send(event('a'));
  await reader.cancel('enough');
  expect(left()).toBe('enough');
});

it('an event larger than a piece passes in parts', async () => {
  const { send, read } = await open();
  await send(`data: ${'x'.repeat(70_000)}`);
  expect(read.join('')).toHaveLength(70_006);
});

it('another type of response stays unchanged', async () => {
  const { send, read } = await open('application/json');
  await send('{', '}');
  expect(read).toEqual(['{', '}']);
});

it('every byte of other events passes, for any split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 }),
      fc.array(fc.nat(40), { maxLength: 12 }),
      async (texts, cuts) => {
        const { send, pass, read, over, sender } = await open();
        let bytes = Buffer.from(
          texts.map((text) => `data: ${JSON.stringify({ text })}\n\n`).join(''),
        );
        const whole = bytes.toString();
        for (const cut of cuts) {
          if (cut > 0) await send(bytes.subarray(0, cut));
          bytes = bytes.subarray(cut);
          await pass(10);
        }
        await send(bytes);
        sender.close();
        await pass(40);
        await over;
        expect(read.join('')).toBe(whole);
      },
    ),
    { numRuns: 30 },
  );
});
