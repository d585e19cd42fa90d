import { describe, expect, it } from 'vitest';
import {
  heardHistory,
  previewOf,
  sessionMessages,
} from '../../../src/machines/conversation/session.ts';
import type { Caller, Failure, Message, Part, Task } from '../../../src/machines/domain/task.ts';
import { messageSize } from '../../../src/machines/task/bound-history.ts';
import { aTask } from '../../helpers/stored-tasks.ts';
import { aCaller } from '../../helpers/task-fixtures.ts';

const said = (role: Message['role'], messageId: string, text = messageId): Message => ({
  role,
  messageId,
  parts: [{ kind: 'text', text }],
});
const asked = said('user', 'asked');
const answered = said('agent', 'answered');
const rita = aCaller();
const { email: _, ...owner } = rita;
const other = { provider: 'ops', userId: 'tom' };

/** An ended task of Rita's in which something was said. */
const ended = (history: Message[], overrides: Partial<Task> = {}) =>
  aTask({ state: 'completed', requester: rita, history, ...overrides });

/** As many messages as that, of which every other one is an answer. */
const talk = (length: number) =>
  Array.from({ length }, (_one, index) => said(index % 2 === 0 ? 'user' : 'agent', `m-${index}`));

describe('the session history of a new task', () => {
  it('contains the messages of the ended tasks, oldest first', () => {
    const later = [said('user', 'and now?'), said('agent', 'now')];
    const tasks = [ended(later, { state: 'failed' }), ended([asked, answered])];
    expect(sessionMessages(tasks, owner)).toEqual([asked, answered, ...later]);
  });

  it.each<[Task['state'], Message[]]>([
    ['submitted', []],
    ['working', []],
    ['deferred', []],
    ['completed', [asked, answered]],
    ['failed', [asked, answered]],
    ['canceled', [asked, answered]],
  ])('of a task that is %s is %j', (state, messages) => {
    expect(sessionMessages([ended([asked, answered], { state })], owner)).toEqual(messages);
  });

  it.each<[string, Partial<Task>, (Task['owner'] & object) | null, Message[]]>([
    ['hers', { requester: rita }, owner, [asked]],
    ['her task, by name', { requester: rita, owner }, owner, [asked]],
    ['asked for by another', { requester: other, owner }, owner, []],
    ['owned by another', { requester: rita, owner: other }, owner, []],
    ["another's", { requester: other }, owner, []],
    ["nobody's", { requester: null }, owner, []],
    ['a task without an owner, for an anonymous caller', { requester: null }, null, [asked]],
    ['her task, for an anonymous caller', { requester: rita }, null, []],
    [
      'a task of another organisation',
      { requester: { ...rita, orgId: 'acme' } as Caller },
      owner,
      [],
    ],
  ])('contains of a task that is %s what its caller may read', (_name, whose, caller, messages) => {
    expect(sessionMessages([ended([asked], whose)], caller)).toEqual(messages);
  });

  it('skips tasks of other callers and continues with older ones', () => {
    const tasks = [ended([answered], { requester: other }), ended([asked], {})];
    expect(sessionMessages(tasks, owner)).toEqual([asked]);
  });

  it('contains the newest hundred messages at most, also over several tasks', () => {
    const hundred = talk(100);
    expect(sessionMessages([ended(hundred)], owner)).toEqual(hundred);
    expect(sessionMessages([ended(hundred), ended([asked, answered])], owner)).toEqual(hundred);
    const more = talk(102);
    expect(sessionMessages([ended(more)], owner)).toEqual(more.slice(2));
  });

  it('contains exactly 256 KiB at most', () => {
    const room = 262_144 - messageSize(asked);
    const fill = room - messageSize(said('user', 'long', ''));
    const within = said('user', 'long', 'x'.repeat(fill));
    const over = said('user', 'long', 'x'.repeat(fill + 1));
    expect(sessionMessages([ended([within, asked])], owner)).toEqual([within, asked]);
    expect(sessionMessages([ended([over, asked])], owner)).toEqual([asked]);
  });

  it('does not begin with an answer to an omitted message', () => {
    const cut = [...talk(1), answered, ...talk(99)];
    expect(sessionMessages([ended(cut)], owner)).toEqual(cut.slice(2));
    expect(sessionMessages([ended([answered, asked])], owner)).toEqual([asked]);
    expect(sessionMessages([ended([answered])], owner)).toEqual([]);
    expect(sessionMessages([], owner)).toEqual([]);
  });

  const denied = { kind: 'denied', text: 'denied', tool: null, layer: 'prompt' } as const;
  it.each<[string, Failure | null, Message[]]>([
    ['was denied', denied, [asked, answered]],
    ['had a call denied', { ...denied, layer: 'modify' }, [asked, answered, said('user', 'bad')]],
    ['failed', { kind: 'model', text: 'gone' }, [asked, answered, said('user', 'bad')]],
    ['did not fail', null, [asked, answered, said('user', 'bad')]],
  ])('contains what the model received in a task whose latest run %s', (_name, failure, heard) => {
    const task = ended([asked, answered, said('user', 'bad')], { state: 'failed', failure });
    expect([heardHistory(task), sessionMessages([task], owner)]).toEqual([heard, heard]);
  });
});

describe('the preview of a session', () => {
  const picture: Part = { kind: 'file', file: { mimeType: 'image/png', uri: 'https://x.example' } };
  const faces = '😀'.repeat(100);

  it.each<[string, Message[], string]>([
    ['nothing', [], ''],
    ['an answer alone', [answered], ''],
    ['a question and its answer', [answered, asked, answered], 'asked'],
    ['two questions', [asked, said('user', 'again')], 'asked again'],
    ['lines and gaps', [said('user', 'm', ' refund\n\n\torder  7 ')], 'refund order 7'],
    ['half a character', [said('user', 'm', 'a\ud83d')], 'a\ufffd'],
    [
      'a picture with words',
      [{ ...asked, parts: [picture, { kind: 'text', text: 'look' }] }],
      'look',
    ],
    ['a hundred characters', [said('user', 'm', faces)], faces],
    ['one more', [said('user', 'm', `${faces}!`)], `${faces}...`],
  ])('of %s is one line of its first words', (_name, messages, preview) => {
    expect(previewOf(messages)).toBe(preview);
  });
});
