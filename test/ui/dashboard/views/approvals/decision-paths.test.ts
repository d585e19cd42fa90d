import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  type DecisionOutcome,
  decisionMachine,
  type Verb,
} from '../../../../../src/ui/dashboard/views/approvals/decision-machine.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { aDeferral, anAgent } from '../../../../helpers/page-fixtures.ts';
import { type Answer } from '../../../../helpers/page-server.ts';
import { readOut, walkPage } from '../../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

interface World extends HeldPage {
  /** Whether the server says that the call waits. */
  waits: boolean;
}

const route = 'POST /api/agents/refunds/tasks/refund-1/decisions';
const deferral = aDeferral();

/** The card of a call, on a page whose time does not advance. */
async function openCard(): Promise<World> {
  const held = await openHeldPage({
    browser,
    view: '#/approvals/refunds/refund-1',
    held: [route],
    arrange: (server) => {
      server.agents = [anAgent()];
      server.deferrals = [deferral];
    },
    prepare: async ({ clock }) => {
      await clock.install({ time: Date.now() });
      await clock.pauseAt(Date.now() + 1_000);
    },
  });
  forgive(held.complaints, ['403', '409']);
  await held.page.locator('.pane .bar').waitFor();
  return { ...held, waits: true };
}

const isOpen = (snapshot: AnyMachineSnapshot) => snapshot.hasTag('open');

function decides(verb: Verb, note: string): Happening<World> {
  return {
    event: { type: 'decided', verb, details: { note, email: '', token: '' } },
    in: isOpen,
    happen: async ({ page, due }) => {
      await page.getByLabel('Reason').fill(note);
      await page.getByRole('button', { name: verb === 'approve' ? 'Approve' : 'Reject' }).click();
      const { id, args_sha256 } = deferral;
      const body = { decision: verb, deferral_id: id, args_sha256 };
      due.push([route, note === '' ? body : { ...body, note }]);
    },
  };
}

function answers(output: DecisionOutcome, answer: Answer): Happening<World> {
  return {
    event: { type: 'xstate.done.actor.0.decision.sending', output },
    in: (snapshot) => snapshot.matches('sending'),
    happen: (world) => world.answer(route, answer),
  };
}

const happenings: Happenings<World> = {
  'the person presses Enter too early': {
    event: [],
    in: (snapshot) => snapshot.matches('appearing'),
    happen: ({ page }) => page.getByLabel('Reason').press('Control+Enter'),
  },
  'half a second passes': {
    event: { type: 'xstate.after.settling.decision.appearing' },
    in: (snapshot) => snapshot.matches('appearing'),
    happen: async ({ page }) => {
      await page.clock.runFor(499);
      expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
      // It begins with the first frame.
      await page.clock.runFor(17);
    },
  },
  'the person approves': decides('approve', ''),
  'the person rejects': decides('reject', 'Too much.'),
  'the person presses the button again': {
    event: [],
    in: (snapshot) => snapshot.matches('sending'),
    happen: ({ page }) => page.keyboard.press('Enter'),
  },
  'the server resolves the call': answers({ kind: 'resolved' }, { body: { status: 'resolved' } }),
  'the server records it': answers({ kind: 'recorded' }, { body: { status: 'recorded' } }),
  'the server refuses the approver': answers(
    {
      kind: 'refused',
      problem:
        'You cannot decide on this call. Enter the email of a listed approver, or your own token. (Not you.)',
    },
    { status: 403, body: { error: 'Not you.' } },
  ),
  'the server says that it is over': answers(
    { kind: 'over', problem: 'Already decided: approve by bo@example.com.' },
    {
      status: 409,
      body: { error: 'It is over', decision: 'approve', approver: 'bo@example.com' },
    },
  ),
  'the stream says that it is over': {
    event: [],
    in: ({ value }) => value === 'resolved' || value === 'over',
    happen: (world) => {
      world.waits = false;
      const ended = { agent_id: 'refunds', task_id: 'refund-1', deferral: null, pending: 0 };
      world.server.emit('deferral', ended);
    },
  },
};

/** What the card says of the decision. */
function seen(
  {
    value,
    context: {
      sent: { verb },
      problem,
    },
  }: AnyMachineSnapshot,
  waits: boolean,
): string[] {
  const told = problem === null ? [] : [`alert: ${problem}`];
  if (value === 'over' || value === 'resolved' || !waits) {
    const over = 'Someone else decided this, or it timed out.';
    const kept = value === 'over' && verb === 'reject';
    return [
      ...told,
      `status: ${value === 'over' ? over : verb === 'approve' ? 'Approved.' : 'Rejected.'}`,
      ...(kept ? ['textbox "Your unsent reason"'] : []),
    ];
  }
  const isSending = value === 'sending';
  const disabled = value === 'ready' || value === 'recorded' ? '' : ' [disabled]';
  const recorded = 'Your approval is recorded. Another approver must approve too.';
  return [
    ...(isSending ? ['status: Sending decision'] : []),
    ...told,
    ...(value === 'recorded' ? [`status: ${recorded}`] : []),
    'textbox "Reason (sent to the agent)"',
    `button "${isSending && verb === 'reject' ? 'Rejecting …' : 'Reject'}"${disabled}`,
    `button "${isSending && verb === 'approve' ? 'Approving …' : 'Approve'}"${disabled}`,
  ];
}

/** The button that keeps the focus, so that a key can try again; none where nothing was sent or can be. */
function focused({
  value,
  context: {
    sent: { verb },
    problem,
  },
}: AnyMachineSnapshot): string | null {
  const isApproval = verb === 'approve';
  if (value === 'sending') return isApproval ? 'Approving …' : 'Rejecting …';
  if (value !== 'recorded' && (value !== 'ready' || problem === null)) return null;
  return isApproval ? 'Approve' : 'Reject';
}

/** What the page says of its own accord. */
function toast({
  value,
  context: {
    sent: { verb },
  },
}: AnyMachineSnapshot): string {
  if (value !== 'resolved') return '';
  return `${verb === 'approve' ? 'Approved' : 'Rejected'}: issue_refund of refunds.`;
}

describe('the shortest paths of a decision, in the page', () => {
  walkPage(
    decisionMachine,
    happenings,
    openCard,
    async ({ page, waits }, snapshot) => {
      const roles = ['status', 'alert', 'paragraph', 'textbox', 'button'];
      const shown = await readOut(page.locator('.pane .bar'), roles);
      const isFilled = (line: string) => line !== 'status';
      expect(shown.filter(isFilled)).toEqual(seen(snapshot, waits));
      expect(await page.locator('.toasts').innerText()).toBe(toast(snapshot));
      const focus = focused(snapshot);
      if (focus === null) return;
      expect(await page.locator('button:focus').allInnerTexts()).toEqual([focus]);
    },
    {
      fingerprint: ({ context }) => [context.sent.verb, context.problem],
      // The dashboard confirms nothing with a passkey.
      passing: ['asking', 'confirming'],
    },
  );
});
