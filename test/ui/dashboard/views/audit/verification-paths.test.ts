import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  type Outcome,
  verificationMachine,
} from '../../../../../src/ui/dashboard/views/audit/verification-machine.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { anAgent } from '../../../../helpers/page-fixtures.ts';
import { readOut, walkPage } from '../../../../helpers/page-walk.ts';
import { answerLog, aSignedLog } from '../../../../helpers/served-log.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const { log, changed } = aSignedLog();

const route = 'GET /api/agents/refunds/audit';
const length = `${route}?verified=false&limit=1`;
const linesRoute = `${route}/lines`;

function says(query: string) {
  const url = new URL(`http://127.0.0.1/api/agents/refunds/audit?${query}`);
  return { body: answerLog(url, 'refunds', log) };
}

/** The log of an agent, of which everything waits that is asked once it is shown. */
async function openLog(): Promise<HeldPage> {
  const held = await openHeldPage({
    browser,
    view: '#/audit/refunds',
    held: [],
    arrange: (server) => {
      server.agents = [anAgent()];
      server.routes.set(route, (_, url) => ({ body: answerLog(url, 'refunds', log) }));
    },
  });
  forgive(held.complaints, ['500']);
  await held.page.getByRole('button', { name: 'Verify all' }).waitFor();
  held.hold(route);
  held.hold(linesRoute);
  return held;
}

const isReading = (snapshot: AnyMachineSnapshot) => snapshot.matches({ running: 'reading' });
const isVerifying = (snapshot: AnyMachineSnapshot) => snapshot.matches({ running: 'verifying' });

const outcome: Outcome = {
  ...{ events: 4, signed: 4, checked: true, head: 'it', checkpoint: null, culprit: null },
};
const found = (culprit: object | null) => ({
  type: 'log.verified',
  outcome: { ...outcome, culprit },
});

const failed = (problem: string) => ({ type: 'reading.failed', problem });
const bad = 'sig does not match the line.';
const notRead = 'The dashboard answered 500 when the log was read.';

function stops(isPossible: Happening<HeldPage>['in'], request: string): Happening<HeldPage> {
  return {
    event: { type: 'verification.stopped' },
    ...(isPossible === undefined ? {} : { in: isPossible }),
    happen: async ({ page, due }) => {
      await page.getByRole('button', { name: 'Stop' }).click();
      due.push([`gives up ${request}`]);
    },
  };
}

const happenings: Happenings<HeldPage> = {
  'the person asks': {
    event: { type: 'verification.asked' },
    in: (snapshot) => !snapshot.matches('running'),
    happen: async ({ page, due }) => {
      await page.getByRole('button', { name: 'Verify all' }).click();
      due.push([length]);
    },
  },
  'the person stops it early': stops(isReading, length),
  'the person stops it': stops(isVerifying, `${linesRoute}?from=1&to=4`),
  'the server says how long it is': {
    event: { type: 'lines.read', done: 0, total: 4 },
    in: isReading,
    happen: async ({ answer, due }) => {
      await answer(route, says('limit=1'));
      due.push([`${linesRoute}?from=1&to=4`]);
    },
  },
  'the server does not say it': {
    event: failed('It is locked.'),
    in: isReading,
    happen: ({ answer }) => answer(route, { status: 500, body: { error: 'It is locked.' } }),
  },
  'every line comes as it was written': {
    event: found(null),
    in: isVerifying,
    happen: ({ answer }) => answer(linesRoute, new Response(log.lines.join(''))),
  },
  'a line comes that was changed': {
    event: found({ line: 2, says: bad }),
    in: isVerifying,
    happen: async ({ answer, due }) => {
      await answer(linesRoute, new Response(changed.join('')));
      await answer(route, says('limit=1&before=2'));
      due.push([`${length}&before=2`]);
    },
  },
  'no line comes': {
    event: failed(notRead),
    in: isVerifying,
    happen: ({ answer }) => answer(linesRoute, { status: 500 }),
  },
};

/** What is said of it in each state. */
function status(snapshot: AnyMachineSnapshot): string {
  const { total } = snapshot.context;
  if (isReading(snapshot)) return 'Reading the length of the log …';
  if (isVerifying(snapshot)) return `Verifying, 0 of ${total}`;
  if (snapshot.matches('intact')) {
    return 'chain intact 4 events, 4 valid signatures verified to checkpoint 3, plus 0 later lines';
  }
  if (snapshot.matches('broken')) return `broken at line 2 ${bad} Later lines cannot be verified.`;
  if (snapshot.matches('cancelled')) {
    return `Stopped after 0 of ${total}; the rest is not verified.`;
  }
  return 'Every line is chained to the previous one. Your browser can verify the whole log.';
}

function seen(snapshot: AnyMachineSnapshot): string[] {
  const { problem } = snapshot.context;
  const isRunning = snapshot.matches('running');
  return [
    `status: ${status(snapshot)}`,
    ...(snapshot.matches('broken') ? ['button "Show line"'] : []),
    ...(isRunning ? ['button "Stop"', 'progressbar "Lines verified"'] : ['button "Verify all"']),
    ...(problem === null ? [] : [`alert: ${problem}`]),
    'button "Copy the command"',
  ];
}

describe('the shortest paths of the verification of a log, in the page', () => {
  walkPage(
    verificationMachine,
    happenings,
    openLog,
    async ({ page }, snapshot) => {
      const roles = ['status', 'button', 'progressbar', 'alert'];
      const shown = await readOut(page.getByRole('region', { name: 'Verification' }), roles);
      expect(shown).toEqual(seen(snapshot));
    },
    { fingerprint: ({ context }) => [context.total, context.problem] },
  );
});
