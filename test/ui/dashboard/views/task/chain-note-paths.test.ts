import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { verificationMachine } from '../../../../../src/ui/dashboard/views/audit/verification-machine.ts';
import { forgive, TestBrowser } from '../../../../helpers/browser.ts';
import type { Happenings } from '../../../../helpers/chart-walk.ts';
import { anAgent } from '../../../../helpers/page-fixtures.ts';
import { listedTask } from '../../../../helpers/page-tasks.ts';
import { walkPage } from '../../../../helpers/page-walk.ts';
import { answerLog, aSignedLog } from '../../../../helpers/served-log.ts';
import { taskStories } from '../../../../helpers/task-stories.ts';
import { type HeldPage, openHeldPage } from '../../held-page.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

const { log, changed } = aSignedLog();

const route = 'GET /api/agents/refunds/audit';
const linesRoute = `${route}/lines`;
const before = (line: number) => `${route}?verified=false&limit=1&before=${line}`;
/** The two lines of the task, and the one that proves the second. */
const part = `${linesRoute}?from=1&to=3`;

function says(line: number) {
  const url = new URL(`http://127.0.0.1/api/agents/refunds/audit?limit=1&before=${line}`);
  return { body: answerLog(url, 'refunds', log) };
}

const [story] = taskStories(Date.now());
const entry = { seq: 1, at: '2026-07-01T09:00:00.000Z', event: 'tool_exec', fields: {} };
const task = { ...story, id: 't-1', timeline: [1, 2].map((line) => ({ ...entry, line })) };

/** A page that knows an agent, and shows none of its tasks. */
async function openPage(): Promise<HeldPage> {
  const held = await openHeldPage({
    browser,
    view: '#/nothing',
    held: [route, linesRoute],
    arrange: (server) => {
      server.agents = [anAgent()];
      server.routes.set('GET /api/agents/refunds/tasks/t-1', () => ({ body: task }));
    },
  });
  forgive(held.complaints, ['500']);
  await held.page.getByRole('link', { name: 'refunds' }).waitFor();
  return held;
}

const isRunning = (snapshot: AnyMachineSnapshot) => snapshot.matches('running');
const failed = (problem: string) => ({ type: 'reading.failed', problem });
const verified = (culprit: object | null) => ({ type: 'log.verified', outcome: { culprit } });
const asked = { type: 'verification.asked' };

/** Has the page read the task once more. */
function goOn({ server, due }: HeldPage): void {
  server.emit('task', { agent_id: 'refunds', task: listedTask(1) });
  due.push([before(1)]);
}

const happenings: Happenings<HeldPage> = {
  'the task is shown': {
    event: asked,
    in: (snapshot) => snapshot.matches('idle'),
    happen: async ({ page, due }) => {
      await page.evaluate(`location.hash = '#/tasks/refunds/t-1'`);
      due.push([before(1)]);
    },
  },
  'the task goes on': {
    event: asked,
    in: (snapshot) => !snapshot.matches('idle') && !isRunning(snapshot),
    happen: goOn,
  },
  'the task goes on too soon': {
    event: asked,
    in: isRunning,
    happen: (world) => {
      world.due.push([`gives up ${before(1)}`]);
      goOn(world);
    },
  },
  'its lines come as they were written': {
    event: verified(null),
    in: isRunning,
    happen: async ({ answer, due }) => {
      await answer(route, says(1));
      await answer(linesRoute, new Response(log.lines.slice(0, 3).join('')));
      due.push([part]);
    },
  },
  'a line of it comes that was changed': {
    event: verified({ line: 2, says: 'It.' }),
    in: isRunning,
    happen: async ({ answer, due }) => {
      await answer(route, says(1));
      await answer(linesRoute, new Response(changed.slice(0, 3).join('')));
      await answer(route, says(2));
      due.push([part], [before(2)]);
    },
  },
  'the log cannot be read': {
    event: failed('It is locked.'),
    in: isRunning,
    happen: ({ answer }) => answer(route, { status: 500, body: { error: 'It is locked.' } }),
  },
  'its lines cannot be read': {
    event: failed('The dashboard answered 500 when the log was read.'),
    in: isRunning,
    happen: async ({ answer, due }) => {
      await answer(route, says(1));
      await answer(linesRoute, { status: 500 });
      due.push([part]);
    },
  },
};

/** The note, and what it says when it is pointed at. */
function seen({ value, context: { problem } }: AnyMachineSnapshot): unknown[] {
  const first = 'line 1 of the log';
  switch (value) {
    case 'idle':
      return [];
    case 'intact':
      return [[`chain intact ${first}`, null]];
    case 'broken':
      return [['chain broken at line 2 of the log', 'sig does not match the line.']];
    case 'failed':
      return [[`not checked ${first}`, problem]];
    default:
      return [[`verifying the log … ${first}`, null]];
  }
}

describe('the shortest paths of the verification of a task, in the page', () => {
  walkPage(
    verificationMachine,
    happenings,
    openPage,
    async ({ page }, snapshot) => {
      const link = page.getByRole('link', { name: /line \d+ of the log/ });
      const notes = page.getByRole('status').filter({ has: link });
      const shown = await notes.evaluateAll((all: any[]) =>
        all.map((note) => [note.innerText.replaceAll(/\s+/g, ' '), note.getAttribute('title')]),
      );
      expect(shown).toEqual(seen(snapshot));
    },
    {
      fingerprint: ({ context }) => context.problem,
      // A note tells of no progress, and is not stopped.
      passing: ['running.verifying', 'cancelled'],
    },
  );
});
