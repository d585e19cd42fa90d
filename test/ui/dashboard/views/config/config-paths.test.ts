import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  configMachine,
  isChanged,
} from '../../../../../src/ui/dashboard/views/config/config-machine.ts';
import { hasFocus, inputOf, openAskedPage } from '../../../../helpers/asked-page.ts';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { walkShown } from '../../../../helpers/page-walk.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const path = '/agents/refunds/service.yaml';
const file = { content: 'agent_id: refunds', etag: '"1"', path };
const theirs = { error: 'service.yaml has changed.', content: 'agent_id: theirs', etag: '"2"' };
const valid = { valid: true, errors: [], warnings: [] };
const problem = { message: 'no such key', line: 1, column: 1, path: 'agent_id' };
const invalid = { valid: false, errors: [problem], warnings: [] };
const failure = { error: 'The disk is full.' };

/** The editor of a configuration that the server has not sent yet. Its time advances when the test advances it. */
async function openEditor() {
  const known = { 'GET /api/schema': {} };
  const asked = await openAskedPage(browser, '#/agents/refunds/config', known, (page) =>
    page.clock.install(),
  );
  await asked.page.clock.pauseAt(Date.now() + 60_000);
  return asked;
}

type World = Awaited<ReturnType<typeof openEditor>>;

type Child = 'reading' | 'editing.checking' | 'saving';

const answered = (child: Child, output: unknown) => ({
  type: `xstate.done.actor.0.config.${child}`,
  output,
});
const failed = (child: Child) => ({
  type: `xstate.error.actor.0.config.${child}`,
  error: new Error(failure.error),
});

const isIn =
  (...states: Child[]) =>
  (snapshot: AnyMachineSnapshot) =>
    states.some((state) => `0.config.${state}` in snapshot.children);

/** A key that is pressed at the end of the text. */
function types(key: string, text: (before: string) => string): Happening<World> {
  return {
    event: ({ context }) => ({ type: 'text.changed', text: text(context.text) }),
    in: ({ context }) => context.saved !== null,
    happen: async ({ page }) => {
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+End');
      await page.keyboard.press(key);
    },
  };
}

const happenings: Happenings<World> = {
  'the file is read': {
    event: answered('reading', file),
    in: isIn('reading'),
    happen: ({ server }) => server.answer('GET /config', file),
  },
  'it cannot be read': {
    event: failed('reading'),
    in: isIn('reading'),
    happen: ({ refuse }) => refuse('GET /config', failure, 500),
  },
  'it is read again': {
    event: { type: 'read.asked' },
    in: (snapshot) => snapshot.matches('unread'),
    happen: ({ press }) => press('Retry'),
  },
  'somebody types': types('#', (before) => `${before}#`),
  'somebody erases that': {
    ...types('Backspace', (before) => before.slice(0, -1)),
    in: (snapshot) => snapshot.matches('editing') && snapshot.context.text.endsWith('#'),
  },
  'nobody types for a while': {
    event: { type: 'xstate.after.typing.config.editing.typing' },
    in: (snapshot) => snapshot.matches({ editing: 'typing' }),
    happen: async ({ page, server }) => {
      await page.clock.runFor(399);
      expect(server.underWay()).toEqual([]);
      await page.clock.runFor(1);
    },
  },
  'it is valid': {
    event: answered('editing.checking', valid),
    in: isIn('editing.checking'),
    happen: ({ server }) => server.answer('POST /config/validate', valid),
  },
  'it cannot be checked': {
    event: failed('editing.checking'),
    in: isIn('editing.checking'),
    happen: ({ refuse }) => refuse('POST /config/validate', failure, 500),
  },
  'it is to be saved': {
    event: { type: 'save.asked' },
    in: ({ context }) => context.saved !== null,
    happen: async ({ page }) => {
      const save = page.locator('main button.primary');
      await ((await save.isEnabled()) ? save.click() : page.keyboard.press('ControlOrMeta+s'));
    },
  },
  'it is saved': {
    event: (snapshot) => {
      const content = inputOf(snapshot, '0.config.saving')?.text;
      return answered('saving', { kind: 'saved', config: { content, etag: '"3"', path } });
    },
    in: isIn('saving'),
    happen: ({ server }) => {
      const [asked = ''] = server.underWay();
      const { content } = JSON.parse(/\{.*\}/.exec(asked)?.[0] ?? '{}');
      return server.answer('PUT /config', { content, etag: '"3"', path });
    },
  },
  'it is not valid': {
    event: answered('saving', { kind: 'invalid', check: invalid }),
    in: isIn('saving'),
    happen: ({ refuse }) => refuse('PUT /config', invalid, 400),
  },
  'somebody else has written it': {
    event: answered('saving', { kind: 'changed', now: theirs }),
    in: isIn('saving'),
    happen: ({ refuse }) => refuse('PUT /config', theirs, 412),
  },
  'it cannot be saved': {
    event: failed('saving'),
    in: isIn('saving'),
    happen: ({ refuse }) => refuse('PUT /config', failure, 500),
  },
  'mine is kept': {
    event: { type: 'mine.kept' },
    in: (snapshot) => snapshot.matches('conflicting'),
    happen: ({ press }) => press('Keep mine'),
  },
  'theirs is taken': {
    event: { type: 'theirs.taken' },
    in: (snapshot) => snapshot.matches('conflicting'),
    happen: ({ press }) => press('Use the version on disk'),
  },
};

/** What the page shows of its chart, and what it waits for. */
async function look({ page, server }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { context } = snapshot;
  const isConflict = snapshot.matches('conflicting');
  const checked = inputOf(snapshot, '0.config.editing.checking');
  const saved = inputOf(snapshot, '0.config.saving');
  const isOpen = context.saved !== null;
  const isCurrent = snapshot.matches({ editing: 'checked' });
  if (saved !== undefined) expect(await hasFocus(page)).toBe(true);
  expect([await shownBy(page), server.underWay()]).toEqual([
    {
      alerts: [
        ...(context.problem === null ? [] : [context.problem]),
        ...(isConflict ? [theirs.error] : []),
      ],
      buttons: [
        saved === undefined ? 'Save' : 'Saving …',
        ...(snapshot.matches('unread') ? ['Retry'] : []),
        ...(context.restart && !isChanged(context) ? ['Restart now'] : []),
        ...(isConflict ? ['Keep mine', 'Use the version on disk'] : []),
        ...(context.check?.errors ?? []).map(() => 'line 1'),
      ],
      canSave: snapshot.can({ type: 'save.asked' }),
      isMarked: isChanged(context),
      text: isOpen ? context.text : null,
      removed: isConflict ? theirs.content : null,
      says: isOpen ? saysOf(context.check, isCurrent) : null,
      isCurrent: isOpen ? isCurrent : null,
    },
    [
      ...(isIn('reading')(snapshot) ? ['GET /config'] : []),
      ...(checked === undefined
        ? []
        : [`POST /config/validate ${JSON.stringify({ content: checked.text })}`]),
      ...(saved === undefined
        ? []
        : [`PUT /config ${JSON.stringify({ content: saved.text })} over ${saved.etag}`]),
    ],
  ]);
}

function saysOf(check: typeof valid | null, isCurrent: boolean): string {
  if (check === null) return isCurrent ? '' : 'Checking …';
  return check.valid ? 'No problems found.' : '1 error. Fix to save.';
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const main = (globalThis as any).document.querySelector('main');
    const editor = main.querySelector('.editor')?.shadowRoot;
    const all = (from: any, selector: string): any[] => [...from.querySelectorAll(selector)];
    const words = ({ innerText }: any): string => innerText.trim();
    const says = main.querySelector('.says');
    const lines = editor && all(editor, '.cm-content > .cm-line').map(words);
    return {
      alerts: all(main, '[role=alert] > p:first-child').map(words),
      buttons: all(main, 'button:not(.icon)').map(words),
      canSave: main.querySelector('button.primary').ariaDisabled === 'false',
      isMarked: main.innerText.includes('unsaved'),
      text: lines?.join('\n') ?? null,
      removed: editor?.querySelector('.cm-deletedChunk')?.innerText.trim() ?? null,
      says: says && words(says),
      isCurrent: says && !says.classList.contains('checking'),
    };
  });
}

describe('the shortest paths of a configuration, in the page', () => {
  walkShown(configMachine, happenings, openEditor, look, {
    fingerprint: ({ context }) => isChanged(context as any),
  });
});
