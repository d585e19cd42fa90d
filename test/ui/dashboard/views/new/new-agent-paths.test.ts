import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { firstAnswers, type Step } from '../../../../../src/machines/wizard/agent-answers.ts';
import {
  newAgentMachine,
  StepRefused,
} from '../../../../../src/ui/dashboard/views/new/new-agent-machine.ts';
import { stepWords } from '../../../../../src/ui/dashboard/views/new/step-words.ts';
import { inputOf, openAskedPage } from '../../../../helpers/asked-page.ts';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { walkShown } from '../../../../helpers/page-walk.ts';
import { answersOf, filled, offer, signInOf, stepsOf } from './asking-chart.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const meta = { providers: [{ name: 'openai', sign_in: true }], skills: [] };
const made = { agent_id: 'desk', directory: '/agents/desk' };
const preview = { directory: '/agents/desk', files: {}, variables: [], missing: [] };
const begun = { url: 'https://id.example.com/auth', state: 's-1' };
const failure = { error: 'The disk is full.' };
const taken = { error: 'There is an agent of this name.', code: 'agent_taken' };
const unfit = { error: 'No such model.', step: 'model' };
const passphrase = 'correct horse';

/** The page on which an agent is made, whose steps are not known yet. */
async function openSteps() {
  const known = { 'POST /api/wizard/preview': preview };
  return openAskedPage(browser, '#/new', known, (page) =>
    // The tab of a provider is of another chart.
    page.addInitScript('globalThis.open = () => null'),
  );
}

type World = Awaited<ReturnType<typeof openSteps>>;

const isAt = (snapshot: AnyMachineSnapshot, ...steps: Step[]) =>
  snapshot.matches('asking') && steps.includes(stepsOf(snapshot)?.value);
const isNamed = (snapshot: AnyMachineSnapshot) =>
  isAt(snapshot, 'name') && answersOf(snapshot).name !== '';
const isMistyped = (snapshot: AnyMachineSnapshot) =>
  snapshot.context.repeated !== answersOf(snapshot)?.security.passphrase;
/** Whether only the name is answered. */
const isBare = (snapshot: AnyMachineSnapshot) => {
  const { provider, security } = answersOf(snapshot);
  return provider === 'scripted' && security.passphrase === '';
};
const isSignIn = (snapshot: AnyMachineSnapshot, state: 'keyed' | 'offered' | 'done' | 'failed') =>
  JSON.stringify(signInOf(snapshot)?.value).includes(state);

/** The server answers while the chart is in a state. */
function answers(
  state: 'reading' | 'creating',
  event: object,
  body: unknown,
  status = 200,
  isPossible: (snapshot: AnyMachineSnapshot) => boolean = () => true,
): Happening<World> {
  const asked = state === 'reading' ? 'GET /api/wizard/meta' : 'POST /api/create';
  const kind = 'error' in event ? 'error' : 'done';
  return {
    event: { type: `xstate.${kind}.actor.0.new-agent.${state}`, ...event },
    in: (snapshot) => snapshot.matches(state) && isPossible(snapshot),
    happen: ({ server, refuse }) =>
      status === 200 ? server.answer(asked, body) : refuse(asked, body, status),
  };
}

/** A step is gone to by its link, or by its address where it has none. */
function goes(step: Step, isPossible: (snapshot: AnyMachineSnapshot) => boolean): Happening<World> {
  return {
    event: { type: 'step.go', step },
    in: isPossible,
    happen: async ({ page }) => {
      const link = page.locator(`[data-step=${step}] a`);
      if ((await link.count()) > 0) return link.click();
      await page.evaluate(`location.hash = '#/new/${step}'`);
    },
  };
}

/** Text is typed at a step whose fields are empty. */
function types(
  step: Step,
  label: string,
  text: string,
  event: Happening<World>['event'],
  isFree: (answers: typeof firstAnswers) => boolean,
): Happening<World> {
  return {
    event,
    in: (snapshot) => isAt(snapshot, step) && isFree(answersOf(snapshot)),
    happen: ({ page }) => page.locator('input').and(page.getByLabel(label)).fill(text),
  };
}

const edit = (step: Step, value: unknown) => ({ type: 'answer.edit', step, value });

const happenings: Happenings<World> = {
  'the steps are read': answers('reading', { output: offer }, meta),
  'they cannot be read': answers('reading', { error: new Error(failure.error) }, failure, 500),
  'they are read again': {
    event: { type: 'offer.again' },
    in: (snapshot) => snapshot.matches('unread'),
    happen: ({ press }) => press('Retry'),
  },
  'a name is typed': types('name', 'Name', 'desk', edit('name', 'desk'), ({ name }) => name === ''),
  'OpenAI is chosen': {
    event: edit('provider', 'openai'),
    in: (snapshot) => isAt(snapshot, 'provider') && isBare(snapshot),
    happen: ({ page }) => page.getByRole('radio', { name: 'OpenAI', exact: true }).check(),
  },
  'another provider is chosen': {
    event: edit('provider', 'google'),
    in: (snapshot) => isAt(snapshot, 'provider') && isSignIn(snapshot, 'done'),
    happen: async ({ page, server }) => {
      await page.getByRole('radio', { name: 'Google Gemini' }).check();
      await server.answer('POST /api/oauth/cancel {"state":"s-1"}', {});
    },
  },
  'a model is typed': types(
    'model',
    'Model (required)',
    'gpt-5',
    edit('model', { ...firstAnswers.model, name: 'gpt-5' }),
    ({ model }) => model.name === '',
  ),
  'a browser is to sign in': {
    event: { type: 'sign-in.moves', events: [{ type: 'browser.choose' }] },
    in: (snapshot) =>
      isAt(snapshot, 'model') &&
      isSignIn(snapshot, 'keyed') &&
      answersOf(snapshot).model.name !== '',
    happen: ({ page }) => page.getByRole('radio', { name: 'Sign in with the browser' }).check(),
  },
  'somebody signs in': {
    event: [
      {
        type: 'sign-in.moves',
        events: [
          { type: 'sign-in.begin', provider: 'openai' },
          { type: 'xstate.done.actor.0.browser-sign-in.browser.starting', output: begun },
          { type: 'status.told', status: { status: 'done' } },
        ],
      },
      { type: 'session.keep', session: 's-1' },
    ],
    in: (snapshot) => isAt(snapshot, 'model') && isSignIn(snapshot, 'offered'),
    happen: async ({ press, server }) => {
      await press('Sign in to OpenAI');
      await server.answer('POST /api/oauth/start', begun);
      await server.answer('GET /api/oauth/status', { status: 'done' });
    },
  },
  'the sign-in expires': {
    event: [
      {
        type: 'sign-in.moves',
        events: [{ type: 'status.told', status: { status: 'failed', error: 'It is too late.' } }],
      },
      { type: 'session.keep', session: '' },
    ],
    in: (snapshot) =>
      (isAt(snapshot, 'review') || snapshot.matches('creating')) && isSignIn(snapshot, 'done'),
    happen: async ({ server }) => {
      server.push('sign_in', {});
      await server.answer('GET /api/oauth/status', { status: 'failed', error: 'It is too late.' });
    },
  },
  'a passphrase is typed': types(
    'security',
    'Passphrase',
    passphrase,
    edit('security', { variables: {}, passphrase }),
    ({ security, provider }) => security.passphrase === '' && provider === 'scripted',
  ),
  'it is typed again': {
    event: { type: 'passphrase.repeat', text: passphrase },
    in: (snapshot) => isAt(snapshot, 'security') && isMistyped(snapshot),
    happen: ({ page }) => page.getByLabel('Confirm passphrase').fill(passphrase),
  },
  'on with it': {
    event: { type: 'step.next' },
    in: (snapshot) => isAt(snapshot, 'name', 'provider', 'model', 'security'),
    happen: ({ press }) => press('Next'),
  },
  'back with it': {
    event: { type: 'step.back' },
    in: (snapshot) => isAt(snapshot, 'model') || (isAt(snapshot, 'provider') && isBare(snapshot)),
    happen: ({ press }) => press('Back'),
  },
  'to the name': goes('name', (snapshot) => isAt(snapshot, 'security')),
  'to the security': goes('security', (snapshot) => isNamed(snapshot) && isBare(snapshot)),
  'to the review': goes(
    'review',
    (snapshot) =>
      isAt(snapshot, 'name', 'security') ||
      (isAt(snapshot, 'provider', 'model') && isSignIn(snapshot, 'offered')) ||
      (isAt(snapshot, 'model') && isSignIn(snapshot, 'done')),
  ),
  'it is to be made': {
    event: { type: 'create' },
    in: (snapshot) => isAt(snapshot, 'review'),
    happen: ({ press }) => press('Create'),
  },
  'it is made': answers('creating', { output: made }, made),
  'the name is taken': answers(
    'creating',
    { error: new StepRefused('name', taken.error) },
    taken,
    409,
    isBare,
  ),
  'the model is refused': answers(
    'creating',
    { error: new StepRefused('model', unfit.error) },
    unfit,
    400,
    (snapshot) => isSignIn(snapshot, 'done'),
  ),
  'it cannot be made': answers(
    'creating',
    { error: new Error(failure.error) },
    failure,
    500,
    isBare,
  ),
  'another one is begun': {
    event: { type: 'begin.again' },
    in: (snapshot) => snapshot.matches('made'),
    happen: ({ press }) => press('Create another'),
  },
};

/** What the page shows of its chart, and what it waits for. */
async function look({ page, server }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const create = inputOf(snapshot, '0.new-agent.creating');
  expect([await shownBy(page), server.underWay()]).toEqual([
    shownIn(snapshot),
    [
      ...(snapshot.matches('reading') ? ['GET /api/wizard/meta'] : []),
      ...(create === undefined ? [] : [`POST /api/create ${JSON.stringify(create.answers)}`]),
    ],
  ]);
}

function shownIn(snapshot: AnyMachineSnapshot) {
  const { problem, refusal } = snapshot.context;
  const step = snapshot.context.made === null ? null : 'made';
  switch (snapshot.value) {
    case 'reading':
      return { heading: 'New agent', step, complaint: null, buttons: [] };
    case 'unread':
      return { heading: 'New agent', step, complaint: problem, buttons: ['Retry'] };
    case 'made':
      return {
        ...{ heading: 'Agent created', step: 'made', buttons: ['Refresh', 'Create another'] },
        complaint: 'Created in /agents/desk, but not found there yet.',
      };
    default: {
      const { value, context } = stepsOf(snapshot) as AnyMachineSnapshot;
      const here: Step = value;
      const isBusy = snapshot.hasTag('busy');
      const on = here === 'review' ? 'Create' : 'Next';
      return {
        heading: stepWords[here].asks,
        step: here,
        complaint: refusal?.step === here ? refusal.text : context['complaint'],
        buttons: [
          isBusy ? '(Creating …)' : on,
          ...(here === 'name' ? [] : [isBusy ? '(Back)' : 'Back']),
        ],
      };
    }
  }
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const { document, location } = globalThis as any;
    const main = document.querySelector('main');
    const all = (selector: string): any[] => [...main.querySelectorAll(selector)];
    const textOf = (element: any): string | null => element?.textContent.trim() ?? null;
    return {
      heading: textOf(main.querySelector('h1')),
      step: /^#\/new\/(\w+)$/.exec(location.hash)?.[1] ?? null,
      // Why a sign-in failed is of another chart.
      complaint: textOf(
        all('.wrong, .whole, .note[role=alert] > p').find((one) => !one.closest('.choices')),
      ),
      buttons: all('.note button, form > .row > button, .row > .quiet')
        .map((button) =>
          button.disabled || button.ariaDisabled === 'true'
            ? `(${textOf(button)})`
            : textOf(button),
        )
        .filter((text) => text !== 'Copy the command'),
    };
  });
}

describe('the shortest paths of the creation of an agent, in the page', () => {
  walkShown(newAgentMachine, happenings, openSteps, look, {
    filled,
    fingerprint: (snapshot) => [
      stepsOf(snapshot)?.value,
      signInOf(snapshot)?.hasTag('unfinished'),
      answersOf(snapshot)?.model.session,
      snapshot.context.made !== null,
      snapshot.context.refusal?.step,
      isMistyped(snapshot),
    ],
  });
});
