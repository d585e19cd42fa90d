import { describe, expect, it } from 'vitest';
import { getInitialSnapshot, transition } from 'xstate';
import { shortcutMachine } from '../../../../src/ui/dashboard/palette/shortcut-machine.ts';

/** Presses keys one after the other; answers what was asked for, and the state they end in. */
function press(...keys: string[]): { asked: unknown[]; state: unknown } {
  let snapshot = getInitialSnapshot(shortcutMachine);
  const asked: unknown[] = [];
  for (const name of keys) {
    const isCommand = name.startsWith('^');
    const key = isCommand ? name.slice(1) : name;
    const [next, actions] = transition(shortcutMachine, snapshot, {
      ...{ type: 'key.pressed', key, isCommand },
    });
    snapshot = next;
    for (const { type, params } of actions) {
      if (String(type) === 'xstate.emit') asked.push((params as { event: unknown }).event);
    }
  }
  return { asked, state: snapshot.value };
}

describe('a key of every page', () => {
  it.each([
    [['^k'], { asked: [{ type: 'palette.wanted' }], state: 'ready' }],
    [['^K'], { asked: [{ type: 'palette.wanted' }], state: 'ready' }],
    [['k'], { asked: [], state: 'ready' }],
    [['?'], { asked: [{ type: 'help.wanted' }], state: 'ready' }],
    [['g'], { asked: [], state: 'leading' }],
    [['g', 'a'], { asked: [{ type: 'view.wanted', key: 'a' }], state: 'ready' }],
    [['g', 'a', 'a'], { asked: [{ type: 'view.wanted', key: 'a' }], state: 'ready' }],
    [['g', '^k'], { asked: [{ type: 'palette.wanted' }], state: 'ready' }],
    [['g', 'Shift'], { asked: [], state: 'leading' }],
    [['^g', 'a'], { asked: [], state: 'ready' }],
  ])('%j', (keys, expected) => {
    expect(press(...keys)).toEqual(expected);
  });

  it('is forgotten when no second one follows soon', () => {
    const [leading] = transition(shortcutMachine, getInitialSnapshot(shortcutMachine), {
      ...{ type: 'key.pressed', key: 'g', isCommand: false },
    });
    const late = { type: 'xstate.after.secondKey.shortcut.leading' } as never;
    expect(transition(shortcutMachine, leading, late)[0].value).toBe('ready');
  });
});
