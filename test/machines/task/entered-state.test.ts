import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causes, pathOf, wordOfEvent } from '../../../src/machines/task/entered-state.ts';

describe('the path of a state', () => {
  it('joins the names from the outermost to the innermost state', () => {
    expect(pathOf('submitted')).toBe('submitted');
    expect(pathOf({ deferred: 'asked' })).toBe('deferred.asked');
    expect(pathOf({ working: { executing: { calling: 'running' } } })).toBe(
      'working.executing.calling.running',
    );
  });

  it('is as deep as the state value', () => {
    expect([pathOf({}), pathOf({ working: undefined }), pathOf({ working: {} })]).toEqual([
      '',
      'working',
      'working.',
    ]);
  });

  it('contains every name at any depth', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1 }), (names) => {
        const value = names.reduceRight<unknown>(
          (inner, name) => (inner === null ? name : { [name]: inner }),
          null,
        );
        expect(pathOf(value as never)).toBe(names.join('.'));
      }),
    );
  });
});

describe('the event name for a state change', () => {
  it.each([
    ['task.cancel', 'task.cancel'],
    ['xstate.done.actor.0.task.working.thinking', 'thinking.done'],
    ['xstate.init', 'prompt.screened'],
    ['xstate.error.actor.0.task.working.thinking', 'xstate.error.actor.0.task.working.thinking'],
  ])('of %s is %s', (event, word) => {
    expect(wordOfEvent(event)).toBe(word);
  });
});

describe('the event name for a state change without an event', () => {
  it('is the one that clients read', () => {
    expect(causes).toEqual({
      begun: 'task.send',
      resumed: 'service.resumed',
      crashed: 'task.crashed',
      unreadable: 'task.unreadable',
      lost: 'store.lost',
    });
  });
});
