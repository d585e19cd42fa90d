import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { paletteMachine } from '../../../../src/ui/dashboard/palette/palette-machine.ts';
import { forgive, TestBrowser } from '../../../helpers/browser.ts';
import type { Happenings } from '../../../helpers/chart-walk.ts';
import { anAgent } from '../../../helpers/page-server.ts';
import { readOut, walkPage } from '../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const stop = 'POST /api/agents/refunds/stop';
const order = { verb: 'stop', agent: 'refunds', command: 'it', waiting: null };

/** The open palette of a page that knows an agent. */
async function openPalette(): Promise<HeldPage> {
  const held = await openHeldPage({
    browser,
    view: '#/nothing',
    held: [stop],
    arrange: (server) => {
      server.agents = [anAgent()];
      server.routes.set('GET /api/agents/refunds/tasks', () => ({ body: { tasks: [] } }));
    },
  });
  forgive(held.complaints, ['409']);
  const { page } = held;
  await page.getByRole('link', { name: 'refunds' }).waitFor();
  await page.keyboard.press('Control+k');
  return held;
}

const isSending = (snapshot: AnyMachineSnapshot) => snapshot.matches('sending');
const isConfirming = (snapshot: AnyMachineSnapshot) => snapshot.matches('confirming');

const happenings: Happenings<HeldPage> = {
  'the person chooses an order': {
    event: { type: 'order.chosen', order },
    in: (snapshot) => snapshot.matches('choosing'),
    happen: async ({ page }) => {
      await page.getByRole('combobox').fill('stop refunds');
      await page.keyboard.press('Enter');
    },
  },
  'the person confirms it': {
    event: { type: 'order.confirmed' },
    in: isConfirming,
    happen: async ({ page, due }) => {
      // What was chosen with a key is confirmed with one.
      await page.keyboard.press('Enter');
      due.push([stop, {}]);
    },
  },
  'the person confirms it again': {
    event: { type: 'order.confirmed' },
    in: isSending,
    happen: ({ page }) => page.keyboard.press('Enter'),
  },
  'the person goes back': {
    event: { type: 'order.dropped' },
    in: isConfirming,
    happen: ({ page }) => page.getByRole('button', { name: 'Back' }).click(),
  },
  'the server takes it': {
    event: { type: 'xstate.done.actor.0.palette.sending' },
    in: isSending,
    happen: ({ answer }) => answer(stop, { status: 202 }),
  },
  'the server refuses it': {
    event: { type: 'xstate.error.actor.0.palette.sending', error: new Error('It cannot stop.') },
    in: isSending,
    happen: ({ answer }) => answer(stop, { status: 409, body: { error: 'It cannot stop.' } }),
  },
};

/** What is over the page in each state. */
function seen({ value, context }: AnyMachineSnapshot): string[] {
  if (value === 'done') return [];
  if (value === 'choosing') {
    return [
      'dialog "Go to a page or run a command"',
      'combobox "Go to a page or run a command" [expanded]',
    ];
  }
  const problem = context.problem === null ? [] : [`alert: ${context.problem}`];
  const disabled = value === 'sending' ? ' [disabled]' : '';
  return [
    'dialog "Stop refunds?"',
    ...problem,
    'button "Copy the command"',
    `button "Stop"${disabled}`,
    `button "Back"${disabled}`,
  ];
}

describe('the shortest paths of the palette, in the page', () => {
  walkPage(
    paletteMachine,
    happenings,
    openPalette,
    async ({ page }, snapshot) => {
      const roles = ['dialog', 'combobox', 'button', 'alert'];
      expect(await readOut(page.locator('dialog'), roles)).toEqual(seen(snapshot));
    },
    { fingerprint: ({ context }) => context.problem },
  );
});
