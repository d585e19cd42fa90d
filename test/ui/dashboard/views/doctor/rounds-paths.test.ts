import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import type { DoctorJson } from '../../../../../src/http/wire/dashboard/doctor-json.ts';
import {
  type Report,
  roundsMachine,
} from '../../../../../src/ui/dashboard/views/doctor/rounds-machine.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { anAgent } from '../../../../helpers/page-server.ts';
import { readOut, walkPage } from '../../../../helpers/page-walk.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

interface World extends HeldPage {
  /** Agents that are still to be checked, the one that is being checked first. */
  queue: readonly string[];
}

const routeOf = (agent: string) => `GET /api/agents/${agent}/doctor`;

/** A page that can check two agents. */
async function openPage(view: string): Promise<World> {
  const held = await openHeldPage({
    browser,
    view,
    held: ['desk', 'till'].map(routeOf),
    arrange: (server) => {
      server.agents = ['desk', 'till'].map((id) => anAgent({ id, status: 'stopped' }));
    },
  });
  forgive(held.complaints, ['500']);
  return { ...held, queue: [] };
}

const isChecking = ({ value }: AnyMachineSnapshot) => value === 'checking';
const isResting = ({ value }: AnyMachineSnapshot) => value === 'resting';
/** Whether nothing has been told yet; what is asked anew is seen where one agent is checked. */
const isFirst = ({ value, context }: AnyMachineSnapshot) =>
  value === 'resting' && Object.keys(context.reports).length === 0;

function asks(
  agents: readonly string[],
  ask: (world: World) => Promise<unknown>,
  isPossible: (snapshot: AnyMachineSnapshot) => boolean,
): Happening<World> {
  return {
    event: { type: 'round.asked', agents },
    in: isPossible,
    happen: async (world) => {
      await ask(world);
      world.queue = agents;
      world.due.push([routeOf(agents[0] ?? '')]);
    },
  };
}

const told: DoctorJson = { checks: [{ check: 'config', status: 'pass', message: 'It is read.' }] };
const broken = 'The checks have crashed.';

/** The answer to the check that is under way, after which the next agent is checked. */
function answers(end: object, status: number, body: object): Happening<World> {
  return {
    event: { type: 'xstate.done.actor.0.rounds.checking', ...end },
    in: isChecking,
    happen: async (world) => {
      const [agent = '', ...rest] = world.queue;
      await world.answer(routeOf(agent), { status, body });
      world.queue = rest;
      if (rest[0] !== undefined) world.due.push([routeOf(rest[0])]);
    },
  };
}

const happenings: Happenings<World> = {
  'the checks pass': answers({ output: told }, 200, told),
  'the checks crash': answers(
    { type: 'xstate.error.actor.0.rounds.checking', error: new Error(broken) },
    500,
    { error: broken },
  ),
  'the person stops it': {
    event: { type: 'round.stopped' },
    in: isChecking,
    happen: async ({ page, due, queue }) => {
      await page.getByRole('button', { name: 'Stop' }).click();
      due.push([`gives up ${routeOf(queue[0] ?? '')}`]);
    },
  },
};

const fingerprint = ({ context: { queue, reports } }: AnyMachineSnapshot) => [
  queue,
  Object.entries<Report>(reports).map(([id, { kind }]) => [id, kind]),
];

/** What is said of an agent beside its name. */
function wordsOf(id: string, { value, context: { queue, reports } }: AnyMachineSnapshot): string {
  const place = value === 'checking' ? queue.indexOf(id) : -1;
  if (place >= 0) return place === 0 ? 'Checking …' : 'queued';
  if (reports[id] === undefined) return 'not checked yet';
  return reports[id].kind === 'told' ? 'all 1 checks pass' : 'could not be checked';
}

/** What the list of all agents says. */
function seenOfAll(snapshot: AnyMachineSnapshot): string[] {
  const isBusy = isChecking(snapshot);
  const { queue, reports } = snapshot.context;
  const rows = ['desk', 'till'].flatMap((id) => [
    `heading "${id}" [level=2]`,
    `text: ${wordsOf(id, snapshot)}`,
    `button "Check ${id}"${isBusy ? ' [disabled]' : ''}`,
    ...(reports[id]?.kind === 'failed' ? [`alert: ${reports[id].problem}`] : []),
    ...(reports[id]?.kind === 'told' ? ['group: 1 check passes'] : []),
  ]);
  const status = isBusy ? [`status: Checking ${queue[0]}`] : [];
  return [`button "${isBusy ? 'Stop' : 'Check all'}"`, ...status, ...rows];
}

describe('the shortest paths of the checks of all agents, in the page', () => {
  walkPage(
    roundsMachine,
    {
      'the person asks for all': asks(
        ['desk', 'till'],
        ({ page }) => page.getByRole('button', { name: 'Check all' }).click(),
        isFirst,
      ),
      'the person asks for the till': asks(
        ['till'],
        ({ page }) => page.getByRole('button', { name: 'Check till' }).click(),
        isFirst,
      ),
      ...happenings,
    },
    () => openPage('#/health'),
    async ({ page }, snapshot) => {
      const roles = ['heading', 'button', 'status', 'alert', 'text', 'group'];
      const shown = await readOut(page.locator('main'), roles);
      const isOther = (line: string) => !/level=1|^text: \$|^status$|"Copy/.test(line);
      expect(shown.filter(isOther)).toEqual(seenOfAll(snapshot));
    },
    { fingerprint, passing: ['turning'] },
  );
});

/** What the page of one agent says of its checks. */
function seenOfOne({ value, context: { reports } }: AnyMachineSnapshot): string[] {
  const isBusy = value === 'checking';
  const report = reports['desk'];
  const summary = report?.kind === 'told' ? ['status: all 1 checks pass'] : [];
  const asked = 'Checks models, identity providers and channels, and verifies the whole log.';
  const below =
    report === undefined
      ? [`paragraph: ${isBusy ? asked : 'Not checked yet.'}`]
      : report.kind === 'told'
        ? ['listitem: pass config It is read.']
        : [`alert: ${report.problem}`];
  return [
    ...(isBusy ? ['status: Checking …'] : summary),
    `button "${isBusy ? 'Stop' : 'Run again'}"`,
    ...below,
  ];
}

describe('the shortest paths of the checks of one agent, in the page', () => {
  walkPage(
    roundsMachine,
    {
      // The view asks as soon current opened, and is not there before.
      'the agent is asked about': asks(
        ['desk'],
        async ({ page, due }) => {
          if (due.length > 0) return page.getByRole('button', { name: 'Run again' }).click();
          await page.evaluate(`location.hash = '#/agents/desk/doctor'`);
        },
        isResting,
      ),
      ...happenings,
    },
    () => openPage('#/nothing'),
    async ({ page, due }, snapshot) => {
      const roles = ['status', 'button', 'paragraph', 'alert', 'listitem'];
      const shown = await readOut(page.getByRole('region', { name: 'Checks' }), roles);
      const isFilled = (line: string) => line !== 'status';
      expect(shown.filter(isFilled)).toEqual(due.length === 0 ? [] : seenOfOne(snapshot));
    },
    { fingerprint, passing: ['turning'] },
  );
});
