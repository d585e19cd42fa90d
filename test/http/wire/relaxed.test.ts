import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deferral } from '../../../src/http/wire/deferral.ts';
import { lenient, loose } from '../../../src/http/wire/relaxed.ts';
import { task } from '../../../src/http/wire/task.ts';

const epoch = '1970-01-01T00:00:00.000Z';
const status = { state: 'working', timestamp: epoch };

describe('a lenient schema', () => {
  const read = lenient(deferral);

  it('reads an object of its IDs only, with each required field empty', () => {
    const empty = {
      ...{ id: 'd-1', deferral_id: '', task_id: 't-1', title: '', tool: '', to: '', timeout: '' },
      ...{ context: '', args: {}, args_sha256: '', requester: null, requested_at: epoch },
      ...{ expires_at: epoch, approvers: null, quorum: 1, approvals: [] },
    };
    expect(read.parse({ id: 'd-1', task_id: 't-1' })).toStrictEqual(empty);
    expect(read.parse({ id: 'd-1', task_id: 't-1', quorum: 0, approvers: 7, args: [] })).toEqual(
      empty,
    );
  });

  it('drops unknown fields and invalid optional ones, at any depth', () => {
    const requester = { user_id: 7, email: 'a@example.com', extra: true };
    const sent = { id: 'd-1', task_id: 't-1', requester, requests: 'two', changes: [7], extra: 1 };
    const { requests, changes, requester: found, ...rest } = read.parse(sent);
    expect([requests, changes]).toEqual([undefined, undefined]);
    expect(found).toStrictEqual({ user_id: '', email: 'a@example.com', provider: '' });
    expect(rest).not.toHaveProperty('extra');
  });

  it('reads a string outside its enumeration, and parts of another kind', () => {
    const parts = [{ kind: 'text', text: 'a' }, { kind: 'video', video: {} }, { text: 7 }];
    const message = { kind: 'message', role: 'judge', messageId: 'm-1', parts };
    const sent = { id: 't-1', contextId: 'c-1', kind: 'task', history: [message] };
    expect(lenient(task).parse({ ...sent, status: { ...status, state: 'thinking' } })).toEqual({
      ...sent,
      status: { ...status, state: 'thinking' },
      history: [{ ...message, parts: [parts[0], { kind: 'video' }, { kind: '' }] }],
    });
  });

  it.each([null, [], 'd-1', {}, { id: 'd-1' }, { id: 'd-1', task_id: 7 }])(
    'refuses %j',
    (value) => {
      expect(read.safeParse(value).success).toBe(false);
    },
  );

  it('refuses an object without a required field', () => {
    expect(lenient(task).safeParse({ id: 't-1' }).success).toBe(false);
  });
});

describe('a loose schema', () => {
  const read = loose(task, ['id', 'status', 'state', 'parts']);

  it('passes unknown fields, adds none, and requires only the named ones', () => {
    const sent = {
      id: 't-1',
      status: { state: 'thinking', message: { parts: [{ kind: 'video', video: 1 }] }, extra: 1 },
      metadata: { deferral: { id: 'd-1' }, extra: {} },
      extra: null,
    };
    expect(read.parse(sent)).toStrictEqual(sent);
  });

  it.each([
    { id: 't-1' },
    { status: { state: 'working' } },
    { id: 't-1', status: { state: 'working', message: {} } },
    { id: 't-1', status: { state: 7 } },
    { id: 't-1', status: { state: 'working' }, contextId: 7 },
  ])('refuses %j', (value) => {
    expect(read.safeParse(value).success).toBe(false);
  });

  it('keeps the values of a record and of a custom field', () => {
    const schema = loose(z.object({ any: z.unknown(), map: z.record(z.string(), z.int()) }), []);
    expect(schema.parse({ any: [1], map: { a: 1 } })).toEqual({ any: [1], map: { a: 1 } });
    expect(schema.safeParse({ map: { a: 'x' } }).success).toBe(false);
  });
});
