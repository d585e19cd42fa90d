import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type { SignInStatusJson } from '../../../../../src/http/wire/dashboard/wizard-json.ts';
import { browserSignInMachine } from '../../../../../src/ui/dashboard/views/new/browser-sign-in-machine.ts';
import { hasFocus, openAskedPage } from '../../../../helpers/asked-page.ts';
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

const refusal = { error: 'No id is registered with the provider.' };
const start = 'POST /api/oauth/start {"provider":"openai"}';
const status = 'GET /api/oauth/status?state=s-1';
const cancel = 'POST /api/oauth/cancel {"state":"s-1"}';
const begun = { url: 'https://id.example.com/auth?state=s-1', state: 's-1' };
/** A tab of the provider, current opened: it knows nothing of the page. */
const tab = [begun.url, '_blank', 'noopener,noreferrer'] as const;

/** The step of the model in the making of an agent, whose provider a browser can sign in to. */
async function openModel() {
  const meta = { providers: [{ name: 'openai', sign_in: true }], skills: [] };
  const known = { 'GET /api/wizard/meta': meta };
  const asked = await openAskedPage(browser, '#/new', known, noteTabs);
  const { page, press } = asked;
  await page.getByRole('textbox', { name: 'Name' }).fill('x');
  await press('Next');
  await page.getByRole('radio', { name: 'OpenAI', exact: true }).check();
  await press('Next');
  return { ...asked, tabs: [] as (typeof tab)[] };
}

/** A tab costs a process of the browser; the real one is opened in `real/browser-sign-in.long.test.ts`. */
function noteTabs(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const tabs: unknown[] = [];
    Object.assign(globalThis, { tabs, open: (...asked: unknown[]) => tabs.push(asked) });
  });
}

type World = Awaited<ReturnType<typeof openModel>>;

const isIn =
  (state: 'offered' | 'starting' | 'begun' | 'failed') => (snapshot: AnyMachineSnapshot) =>
    snapshot.matches('browser') && JSON.stringify(snapshot.value.browser).includes(state);

/** The tab of the key is chosen again. */
const choosesKey = ({ page }: World) => page.getByRole('radio', { name: 'API key' }).check();

/** The server says that a sign-in has moved, and how it is when it is asked. */
function tells(told: SignInStatusJson): Happening<World> {
  return {
    event: { type: 'status.told', status: told },
    in: isIn('begun'),
    happen: async ({ server }) => {
      server.push('sign_in', {});
      await server.answer(status, told);
    },
  };
}

const begins: Happening<World> = {
  event: { type: 'sign-in.begin', provider: 'openai' },
  in: isIn('offered'),
  happen: ({ press }) => press('Sign in to OpenAI'),
};

const happenings: Happenings<World> = {
  'a browser is to sign in': {
    event: { type: 'browser.choose' },
    in: (snapshot) => snapshot.matches('keyed'),
    happen: ({ page }) => page.getByRole('radio', { name: 'Sign in with the browser' }).check(),
  },
  'a key is to be typed': {
    event: { type: 'key.choose' },
    in: (snapshot) => isIn('offered')(snapshot) || isIn('failed')(snapshot),
    happen: choosesKey,
  },
  'it is begun': begins,
  'it is begun again': {
    ...begins,
    in: isIn('failed'),
    happen: ({ press }) => press('Retry'),
  },
  'the server knows where': {
    event: [
      { type: 'xstate.done.actor.0.browser-sign-in.browser.starting', output: begun },
      { type: 'status.told', status: { status: 'pending' } },
    ],
    in: isIn('starting'),
    happen: async ({ server, tabs }) => {
      await server.answer(start, begun);
      tabs.push(tab);
      await server.answer(status, { status: 'pending' });
    },
  },
  'the server knows of none': {
    event: {
      type: 'xstate.error.actor.0.browser-sign-in.browser.starting',
      error: new Error(refusal.error),
    },
    in: isIn('starting'),
    happen: ({ refuse }) => refuse(start, refusal, 400),
  },
  'it is called off before the server knows': {
    event: { type: 'sign-in.cancel' },
    in: isIn('starting'),
    happen: async ({ press, server }) => {
      await press('Cancel sign-in');
      // What the server begins for nobody is called off there, and opens no tab.
      await server.answer(start, begun);
      await server.answer(cancel, {});
    },
  },
  'a key is to be typed before the server knows': {
    event: { type: 'key.choose' },
    in: isIn('starting'),
    happen: async (world) => {
      await choosesKey(world);
      await world.server.answer(start, begun);
      await world.server.answer(cancel, {});
    },
  },
  'it is called off': {
    event: { type: 'sign-in.cancel' },
    in: isIn('begun'),
    happen: async ({ page, server }) => {
      await page.getByRole('button', { name: /^(Cancel sign-in|Discard sign-in)$/ }).click();
      await server.answer(cancel, {});
    },
  },
  'a key is to be typed after all': {
    event: { type: 'key.choose' },
    in: isIn('begun'),
    happen: async (world) => {
      await choosesKey(world);
      await world.server.answer(cancel, {});
    },
  },
  'its tab is opened again': {
    event: { type: 'page.open' },
    in: (snapshot) => snapshot.matches({ browser: { begun: 'pending' } }),
    happen: async ({ press, tabs }) => {
      await press('Reopen tab');
      tabs.push(tab);
    },
  },
  'it moves': tells({ status: 'pending' }),
  'it ends well': tells({ status: 'done' }),
  'it fails': tells({ status: 'failed', error: 'The provider said no.' }),
  'the server knows it no more': {
    ...tells({ status: 'failed', error: 'There is no such sign-in.' }),
    happen: async ({ server, refuse }) => {
      server.push('sign_in', {});
      await refuse(status, { error: 'There is no such sign-in.' }, 404);
    },
  },
  'the server cannot say': {
    event: [],
    in: isIn('begun'),
    happen: async ({ server, refuse }) => {
      server.push('sign_in', {});
      await refuse(status, { error: 'The disk is full.' }, 500);
    },
  },
};

const words = {
  offered:
    'The token stays on the server and is passed to this agent only. This page never receives it.',
  starting: 'Preparing the sign-in …',
  pending: 'Sign in to OpenAI in the tab that has opened, then come back here.',
  done: 'Signed in. The dashboard holds the token for this agent for ten minutes.',
  failed: 'Not signed in.',
};

const buttons = {
  offered: ['Sign in to OpenAI'],
  starting: ['Cancel sign-in'],
  pending: ['Reopen tab', 'Cancel sign-in'],
  done: ['Discard sign-in'],
  failed: ['Retry'],
};

/** What the page shows of its chart, the tabs that it has opened, and what it waits for. */
async function look({ page, server, tabs }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { context, value } = snapshot;
  const isKeyed = value === 'keyed';
  const how: keyof typeof words = isKeyed ? 'offered' : (value.browser.begun ?? value.browser);
  expect([await shownBy(page), server.underWay()]).toEqual([
    {
      chosen: isKeyed ? 'key' : 'browser',
      says: isKeyed ? null : words[how],
      alerts: how === 'failed' ? [context.problem] : [],
      buttons: isKeyed ? [] : buttons[how],
      tabs,
    },
    how === 'starting' ? [start] : [],
  ]);
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const choices = (globalThis as any).document.querySelector('fieldset.choices');
    const all = (selector: string): any[] => [...choices.querySelectorAll(selector)];
    const textOf = ({ innerText }: any): string => innerText.trim();
    const says = choices.querySelector('[role=status]');
    return {
      chosen: choices.querySelector('input[type=radio]:checked').value,
      says: says && textOf(says),
      alerts: all('[role=alert]').map(textOf),
      buttons: all('button').map(textOf),
      tabs: (globalThis as any).tabs,
    };
  });
}

describe('the shortest paths of a sign-in with a browser, in the page', () => {
  walkShown(browserSignInMachine, happenings, openModel, look, {
    // The one who makes an agent is walked on its own.
    filled: browserSignInMachine.provide({ actions: { tellSession: () => undefined } }),
  });
});

it('a user who has opened the tab again keeps the focus when the sign-in ends', async () => {
  const { page, press, server } = await openModel();
  await page.getByRole('radio', { name: 'Sign in with the browser' }).check();
  await press('Sign in to OpenAI');
  await server.answer(start, begun);
  await press('Reopen tab');
  await server.answer(status, { status: 'done' });
  await page.getByText(words.done).waitFor();
  expect(await hasFocus(page)).toBe(true);
});
