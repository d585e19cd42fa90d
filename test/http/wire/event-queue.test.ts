import { expect, it } from 'vitest';
import { EventQueue, frame } from '../../../src/http/wire/event-queue.ts';

const half = { isText: false, size: 512 * 1024 };
const piece = (id: string, text: string) => ({ id, event: 'text', data: { text } });

it('an event is one line of JSON after its position and its name', () => {
  expect(frame({ id: 'a.1', event: 'text', data: { text: 'one\ntwo' } })).toBe(
    'id: a.1\nevent: text\ndata: {"text":"one\\ntwo"}\n\n',
  );
  expect(frame({ data: {} })).toBe('data: {}\n\n');
});

it('events are returned in order and waiting ones are counted', () => {
  const queue = new EventQueue(10);
  queue.add({ event: 'one', data: {} }, { isText: false, size: 3 });
  queue.add({ event: 'two', data: {} }, { isText: false, size: 4 });
  expect([queue.isEmpty, queue.backlog]).toEqual([false, 7]);
  expect(queue.take()).toBe('event: one\ndata: {}\n\n');
  expect([queue.isEmpty, queue.backlog]).toEqual([false, 4]);
  expect(queue.take()).toBe('event: two\ndata: {}\n\n');
  expect([queue.isEmpty, queue.backlog, queue.take()]).toEqual([true, 0, null]);
});

it('a piece of text is appended to the last waiting one, under the newer ID', () => {
  const queue = new EventQueue(10);
  expect(queue.append(piece('1', 'alone'))).toBe(false);
  queue.add(piece('1', 'ab'), { isText: true, size: 30 });
  expect(queue.append(piece('2', 'cd'))).toBe(true);
  expect(queue.backlog).toBe(32);
  queue.add({ event: 'other', data: {} }, { isText: false, size: 1 });
  expect(queue.append(piece('3', 'ef'))).toBe(false);
  expect(queue.take()).toBe('id: 2\nevent: text\ndata: {"text":"abcd"}\n\n');
});

it('the queue is too long beyond 1 MiB of several events, or with too many events', () => {
  const long = new EventQueue(10);
  long.add({ data: {} }, { isText: false, size: 2 * 1024 * 1024 });
  expect(long.isTooLong).toBe(false);
  long.add({ data: {} }, half);
  expect(long.isTooLong).toBe(true);
  long.clear();
  expect([long.isTooLong, long.isEmpty, long.backlog]).toEqual([false, true, 0]);
  const many = new EventQueue(1);
  many.add({ data: {} }, { isText: false, size: 1 });
  expect(many.isTooLong).toBe(false);
  many.addLast([{ data: {} }]);
  expect([many.isTooLong, many.backlog]).toEqual([true, 1]);
});
