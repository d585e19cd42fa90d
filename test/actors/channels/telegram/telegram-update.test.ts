import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUpdates } from '../../../../src/actors/channels/telegram/telegram-update.ts';

const message = {
  message_id: 3,
  date: 1_700_000_000,
  chat: { id: 7, type: 'private', first_name: 'Ann' },
  from: { id: 7, is_bot: false, first_name: 'Ann', language_code: 'en' },
};

const read = {
  message_id: 3,
  chat: { id: 7, type: 'private' },
  from: { id: 7, is_bot: false, first_name: 'Ann' },
};

describe('readUpdates', () => {
  it('reads the needed fields and drops the others', () => {
    expect(readUpdates([{ update_id: 1, message: { ...message, text: 'Hi' } }])).toEqual({
      updates: [{ id: 1, message: { ...read, text: 'Hi', isSaid: true } }],
      unreadable: 0,
    });
  });

  it('separates messages of people from events of the chat', () => {
    const updates = [
      { update_id: 1, message: { ...message, photo: [{}] } },
      { update_id: 2, message: { ...message, new_chat_members: [{}] } },
    ];
    expect(readUpdates(updates)).toEqual({
      updates: [
        { id: 1, message: { ...read, isSaid: true } },
        { id: 2, message: { ...read, isSaid: false } },
      ],
      unreadable: 0,
    });
  });

  it('keeps the id of an update without a message, so that it is acknowledged', () => {
    expect(readUpdates([{ update_id: 1, edited_message: message }])).toEqual({
      updates: [{ id: 1, message: null }],
      unreadable: 0,
    });
  });

  it('counts unreadable updates, and continues', () => {
    const updates = [
      null,
      { update_id: '1' },
      { update_id: 2, message: { ...message, chat: 'here' } },
      {
        update_id: 3,
        message: { ...message, text: 'Hi', entities: [{ type: 'mention', offset: -1 }] },
      },
      { update_id: 4, message: { ...message, text: 'Hi' } },
    ];
    expect(readUpdates(updates)).toEqual({
      updates: [
        { id: 2, message: null },
        { id: 3, message: null },
        { id: 4, message: { ...read, text: 'Hi', isSaid: true } },
      ],
      unreadable: 4,
    });
  });

  it('counts an answer that is not a list as one', () => {
    expect(readUpdates({ updates: [] })).toEqual({ updates: [], unreadable: 1 });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (answer, odd) => {
        readUpdates(answer);
        readUpdates([answer, { update_id: 1, message: odd }]);
      }),
    );
  });
});
