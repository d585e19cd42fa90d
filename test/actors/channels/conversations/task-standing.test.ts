import { describe, expect, it } from 'vitest';
import { standingOf } from '../../../../src/actors/channels/conversations/task-standing.ts';

const said = (role: string, messageId: string, ...texts: string[]) => ({
  kind: 'message',
  role,
  messageId,
  parts: texts.map((text) => ({ kind: 'text', text })),
});

const asked = said('user', 'memory:1', 'hello');

const aTask = (state: string, more: object = {}) => ({
  id: 't-1',
  contextId: 't-1',
  kind: 'task',
  status: { state, timestamp: '2026-07-01T09:00:00.000Z' },
  history: [asked],
  ...more,
});

const failed = (text: string) =>
  aTask('failed', { status: { state: 'failed', message: said('agent', 's', text) } });

const deferral = { id: 'd-1', tool: 'pay', to: 'channel:slack:refunds', args_sha256: 'x' };

describe("the standing of a message's run", () => {
  it.each<[string, object, object]>([
    [
      'is unknown for a task that did not receive it',
      aTask('working', { history: [] }),
      { kind: 'unknown' },
    ],
    ['is unknown without a history', aTask('working', { history: undefined }), { kind: 'unknown' }],
    ['works', aTask('submitted'), { kind: 'working' }],
    [
      'waits for an approval',
      aTask('deferred', { metadata: { deferral } }),
      { kind: 'held', call: { id: 'd-1', tool: 'pay', to: 'channel:slack:refunds' } },
    ],
    ['waits for an approval without a description', aTask('deferred'), { kind: 'working' }],
    [
      'has an answer',
      aTask('completed', { history: [asked, said('agent', 'a', 'one', 'two')] }),
      { kind: 'ended', end: { kind: 'completed', text: 'one\n\ntwo' } },
    ],
    [
      'has an answer that later messages followed',
      aTask('working', { history: [asked, said('agent', 'a', 'one'), said('user', 'x', 'more')] }),
      { kind: 'ended', end: { kind: 'completed', text: 'one' } },
    ],
    [
      'is lost when later messages followed its failure',
      aTask('working', { history: [asked, said('user', 'x', 'more')] }),
      { kind: 'ended', end: { kind: 'gone' } },
    ],
    ['failed', failed('no'), { kind: 'ended', end: { kind: 'failed', text: 'no' } }],
    [
      'answers with data and files',
      aTask('completed', {
        artifacts: [
          {
            artifactId: 'a',
            parts: [
              { kind: 'data', data: { sum: 7 } },
              { kind: 'file', file: { name: 'bill.pdf', bytes: 'AAAA' } },
            ],
          },
        ],
      }),
      {
        kind: 'ended',
        end: { kind: 'completed', text: '```json\n{\n  "sum": 7\n}\n```\n\n(a file: bill.pdf)' },
      },
    ],
  ])('%s', (_, task, standing) => {
    expect(standingOf(task, 'memory:1')).toEqual(standing);
  });

  it('cannot be read from a response that is not a task', () => {
    expect(() => standingOf({ error: 'no' }, 'memory:1')).toThrow();
  });
});
