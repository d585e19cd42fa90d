import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type { AgentJson } from '../../../../../src/http/wire/dashboard/agent-json.ts';
import {
  PassphraseNeeded,
  type ProcessVerb,
  processMachine,
} from '../../../../../src/ui/dashboard/views/agents/process-machine.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { anAgent } from '../../../../helpers/page-fixtures.ts';
import { readOut, walkPage } from '../../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

interface World extends HeldPage {
  /** What the request that is under way asks for. */
  verb: ProcessVerb;
  /** Whether a button was pressed. */
  isBegun: boolean;
}

const routeOf = (verb: ProcessVerb) => `POST /api/agents/refunds/${verb}`;

/** The card of an agent. */
async function openCard(agent: Partial<AgentJson>): Promise<World> {
  const held = await openHeldPage({
    browser,
    view: '#/agents',
    held: [routeOf('start'), routeOf('stop'), routeOf('restart')],
    arrange: (server) => {
      server.agents = [anAgent(agent)];
    },
  });
  forgive(held.complaints, ['400', '409']);
  return { ...held, verb: 'start', isBegun: false };
}

const isIdle = (snapshot: AnyMachineSnapshot) => snapshot.matches('idle');
const isAsking = (snapshot: AnyMachineSnapshot) => snapshot.matches('askingPassphrase');
const isConfirming = (snapshot: AnyMachineSnapshot) => snapshot.matches('confirming');
const isBusy = (snapshot: AnyMachineSnapshot) => snapshot.hasTag('busy');
const isAsked = (snapshot: AnyMachineSnapshot) =>
  isAsking(snapshot) || snapshot.matches('unlocking');

const labels = {
  start: ['Start', 'Starting …'],
  stop: ['Stop', 'Stopping …'],
  restart: ['Restart', 'Restarting …'],
} as const;

function asks(verb: ProcessVerb, needsPassphrase: boolean, waiting: boolean): Happening<World> {
  return {
    event: { type: 'asked', verb, needsPassphrase, waiting },
    in: isIdle,
    happen: async (world) => {
      world.verb = verb;
      world.isBegun = true;
      await world.page.getByRole('button', { name: labels[verb][0], exact: true }).click();
      if (waiting && verb !== 'start') return;
      if (!needsPassphrase || verb === 'stop') world.due.push([routeOf(verb), {}]);
    },
  };
}

/** An answer to whichever of the two requests is under way. */
function answers(
  kind: 'done' | 'error',
  status: number,
  body: object,
  error?: Error,
): Happening<World> {
  return {
    event: ({ value }) => ({ type: `xstate.${kind}.actor.0.process.${value}`, error }),
    in: (snapshot) =>
      isBusy(snapshot) && !(error instanceof PassphraseNeeded && snapshot.context.verb === 'stop'),
    happen: ({ answer, verb }) => answer(routeOf(verb), { status, body }),
  };
}

const wrong = 'That is not its passphrase.';
const inUse = 'Its port is in use.';

const happenings: Happenings<World> = {
  'the person presses the button again': {
    event: ({ context }) => ({
      ...{ type: 'asked', verb: context.verb, needsPassphrase: false, waiting: false },
    }),
    in: (snapshot) => snapshot.matches('sending'),
    happen: ({ page }) => page.keyboard.press('Enter'),
  },
  'the person confirms the end of calls': {
    event: ({ context }) => ({
      ...{ type: 'end.confirmed', needsPassphrase: context.verb === 'restart' },
    }),
    in: isConfirming,
    happen: async ({ page, due, verb }) => {
      await page.getByRole('dialog').getByRole('button', { name: labels[verb][0] }).click();
      if (verb === 'stop') due.push([routeOf(verb), {}]);
    },
  },
  'the person keeps the calls': {
    event: { type: 'end.dropped' },
    in: isConfirming,
    happen: ({ page }) => page.getByRole('button', { name: 'Cancel' }).click(),
  },
  'the person gives a passphrase': {
    event: { type: 'passphrase.given', passphrase: 'open sesame' },
    in: isAsking,
    happen: async ({ page, due, verb }) => {
      await page.getByLabel('Passphrase').fill('open sesame');
      await page.keyboard.press('Enter');
      due.push([routeOf(verb), { passphrase: 'open sesame' }]);
    },
  },
  'the person gives none': {
    event: { type: 'passphrase.refused' },
    in: isAsked,
    happen: ({ page }) => page.getByRole('button', { name: 'Cancel' }).click(),
  },
  'the server does it': answers('done', 202, {}),
  'the server refuses': answers('error', 409, { error: inUse }, new Error(inUse)),
  'the server wants another passphrase': answers(
    'error',
    400,
    { error: wrong, needs_passphrase: true },
    new PassphraseNeeded(wrong),
  ),
};

/** What the card and the dialog over it say. */
function seen(verbs: readonly ProcessVerb[], snapshot: AnyMachineSnapshot): string[] {
  const { verb, problem } = snapshot.context;
  const told = problem === null ? [] : [`alert: ${problem}`];
  const disabled = isBusy(snapshot) ? ' [disabled]' : '';
  const card = verbs.map((each) => {
    const label = labels[each][isBusy(snapshot) && verb === each ? 1 : 0];
    return `button "${label}"${disabled}`;
  });
  const dialog = [
    'dialog "Secrets of refunds are encrypted"',
    `textbox "Passphrase"${problem === null ? '' : ' [invalid]'}`,
    ...told,
    `button "${labels.start[disabled === '' ? 0 : 1]}"${disabled}`,
    'button "Cancel"',
  ];
  if (isConfirming(snapshot)) {
    const name = labels[snapshot.context.verb as ProcessVerb][0];
    return [...card, `dialog "${name} refunds?"`, `button "${name}"`, 'button "Cancel"'];
  }
  return isAsked(snapshot) ? [...card, ...dialog] : [...told, ...card];
}

const cases = [
  { what: 'without secrets', verbs: ['start'], agent: { status: 'stopped' } },
  {
    what: 'with encrypted secrets',
    verbs: ['stop', 'restart'],
    agent: { status: 'running', needs_passphrase: true },
  },
  {
    what: 'with encrypted secrets in which calls wait',
    verbs: ['stop', 'restart'],
    agent: { status: 'running', needs_passphrase: true, pending_deferrals: 3 },
  },
] as const;

describe.each(cases)(
  'the shortest paths of the process of an agent $what, in the page',
  ({ verbs, agent }) => {
    const asked = verbs.map((verb): [string, Happening<World>] => [
      `the person asks for a ${verb}`,
      asks(verb, 'needs_passphrase' in agent, 'pending_deferrals' in agent),
    ]);
    walkPage(
      processMachine,
      { ...Object.fromEntries(asked), ...happenings },
      () => openCard(agent),
      async ({ page, verb, isBegun }, snapshot) => {
        const roles = ['alert', 'button', 'dialog', 'textbox'];
        const shown = await readOut(page.locator('.cards'), roles);
        const isOther = (line: string) => line !== 'button "Copy the command"';
        expect(shown.filter(isOther)).toEqual(seen(verbs, snapshot));
        if (!isBegun || isAsked(snapshot) || isConfirming(snapshot)) return;
        // The focus stays where it was, so that a key can try again.
        const label = labels[verb][isBusy(snapshot) ? 1 : 0];
        expect(await page.locator('button:focus').allInnerTexts()).toEqual([label]);
      },
      {
        fingerprint: ({ context }) => [context.verb, context.problem],
        passing: 'pending_deferrals' in agent ? [] : ['confirming'],
      },
    );
  },
);
