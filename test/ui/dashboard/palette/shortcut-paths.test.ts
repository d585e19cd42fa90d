import { afterAll, beforeAll, describe, expect } from 'vitest';
import { shortcutMachine } from '../../../../src/ui/dashboard/palette/shortcut-machine.ts';
import { TestBrowser } from '../../../helpers/browser.ts';
import type { Happening } from '../../../helpers/chart-walk.ts';
import { walkPage } from '../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

interface World extends HeldPage {
  /** The address of the view that is looked at. */
  view: string;
}

/** A page whose time stands still. */
async function openPage(): Promise<World> {
  const held = await openHeldPage({
    browser,
    view: '#/health',
    held: [],
    arrange: () => undefined,
    prepare: async ({ clock }) => {
      await clock.install({ time: Date.now() });
      await clock.pauseAt(Date.now() + 1_000);
    },
  });
  await held.page.locator('main h1').waitFor();
  return { ...held, view: '#/health' };
}

type State = 'ready' | 'leading';

/** A key, or how long none is pressed. */
type Pressed = string | { pause: number };

interface Effect {
  dialog?: string;
  view?: string;
}

const heard = (pressed: Pressed) => {
  if (typeof pressed === 'string') {
    const key = pressed.replace('Control+', '');
    return [{ type: 'key.pressed', key, isCommand: key !== pressed }];
  }
  return pressed.pause < 1_500 ? [] : [{ type: 'xstate.after.secondKey.shortcut.leading' }];
};

/** What is pressed in a state, and all that it does. */
function presses(state: State, pressed: readonly Pressed[], effect: Effect): Happening<World> {
  return {
    event: pressed.flatMap(heard),
    in: (snapshot) => snapshot.matches(state),
    happen: async (world) => {
      const { page } = world;
      for (const each of pressed) {
        if (typeof each === 'string') await page.keyboard.press(each);
        else await page.clock.runFor(each.pause);
        if (each !== 'Control+k' && each !== '?') continue;
        if (effect.dialog === undefined) continue;
        await page.getByRole('dialog', { name: effect.dialog }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      world.view = effect.view ?? world.view;
    },
  };
}

/** Whether a letter leads to a view is not to be seen; so the letter t is pressed after what may have ended it. */
const rows: Record<string, readonly [State, readonly Pressed[], Effect]> = {
  g: ['ready', ['g'], {}],
  't without g': ['ready', ['t'], {}],
  'Ctrl G and t': ['ready', ['Control+g', 't'], {}],
  '?': ['ready', ['?'], { dialog: 'Keys' }],
  'Ctrl K': ['ready', ['Control+k'], { dialog: 'Go to a page or run a command' }],
  't and another letter': ['leading', ['t', 'd'], { view: '#/tasks' }],
  'the letter of no view, and t': ['leading', ['z', 't'], {}],
  'g again, and t': ['leading', ['g', 't'], {}],
  '? after g, and t': ['leading', ['?', 't'], { view: '#/tasks' }],
  'Shift, and t': ['leading', ['Shift', 't'], { view: '#/tasks' }],
  'Ctrl K after g, and t': [
    'leading',
    ['Control+k', 't'],
    { dialog: 'Go to a page or run a command' },
  ],
  'no key for 1.499 s, and t': ['leading', [{ pause: 1_499 }, 't'], { view: '#/tasks' }],
  'no key for 1.5 s, and t': ['leading', [{ pause: 1_500 }, 't'], {}],
};

describe('the shortest paths of the keys of every page, in the page', () => {
  const happenings = Object.entries(rows).map(([name, row]) => [name, presses(...row)] as const);
  walkPage(shortcutMachine, Object.fromEntries(happenings), openPage, async ({ page, view }) => {
    const shown = [new URL(page.url()).hash, await page.getByRole('dialog').count()];
    expect(shown).toEqual([view, 0]);
  });
});
