import { emit, setup } from 'xstate';

/** A key pressed outside of every field, with its `KeyboardEvent.key`. */
export interface KeyPressed {
  type: 'key.pressed';
  key: string;
  /** True for Ctrl or Cmd. */
  isCommand: boolean;
}

/** The effect of a key on the page. */
export type ShortcutWish =
  | { type: 'palette.wanted' }
  | { type: 'help.wanted' }
  | { type: 'view.wanted'; key: string };

/** Shortcuts of every page: a single key, or `g` followed shortly by a view's letter. */
export const shortcutMachine = setup({
  types: { events: {} as KeyPressed, emitted: {} as ShortcutWish },
  guards: {
    asksForPalette: ({ event: { key, isCommand } }) => isCommand && key.toLowerCase() === 'k',
    asksForHelp: ({ event: { key, isCommand } }) => !isCommand && key === '?',
    leads: ({ event: { key, isCommand } }) => !isCommand && key === 'g',
    isLetter: ({ event: { key, isCommand } }) => !isCommand && /^[a-z]$/.test(key),
  },
  actions: {
    wishForPalette: emit({ type: 'palette.wanted' }),
    wishForHelp: emit({ type: 'help.wanted' }),
    wishForView: emit(({ event: { key } }) => ({ type: 'view.wanted', key })),
  },
  delays: { secondKey: 1_500 },
}).createMachine({
  id: 'shortcut',
  initial: 'ready',
  on: { 'key.pressed': { guard: 'asksForPalette', target: '.ready', actions: 'wishForPalette' } },
  states: {
    ready: {
      description: 'Waits for a shortcut; other keys pass to the page.',
      on: {
        'key.pressed': [
          { guard: 'asksForHelp', actions: 'wishForHelp' },
          { guard: 'leads', target: 'leading' },
        ],
      },
    },
    leading: {
      description: 'g was pressed; the next letter selects a page.',
      on: { 'key.pressed': { guard: 'isLetter', target: 'ready', actions: 'wishForView' } },
      after: { secondKey: 'ready' },
    },
  },
});
