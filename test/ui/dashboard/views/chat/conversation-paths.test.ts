import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  conversationMachine,
  type Listening,
} from '../../../../../src/ui/dashboard/views/chat/conversation-machine.ts';
import {
  readToldTask,
  type Turn,
  turnsOf,
} from '../../../../../src/ui/dashboard/views/chat/turn.ts';
import { hasFocus, inputOf, openAskedPage } from '../../../../helpers/asked-page.ts';
import { TestBrowser } from '../../../../helpers/browser.ts';
import { buildPage } from '../../../../helpers/built-page.ts';
import type { Happening, Happenings } from '../../../../helpers/chart-walk.ts';
import { listedTask } from '../../../../helpers/page-tasks.ts';
import { walkShown } from '../../../../helpers/page-walk.ts';

let browser: TestBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await TestBrowser.launch();
}, 120_000);
afterAll(() => browser.close());

const at = '2026-11-22T10:00:00Z';
const key = 'holdpoint.session.refunds';
const sessions = ['c-1', 'c-2'].map((id) => ({
  ...{ id, preview: `Session ${id}`, created_at: at, updated_at: at },
}));
const earlier = [
  { role: 'user', taskId: 't-0', messageId: 'm-0', parts: [{ text: 'Refund A-1000' }] },
  { role: 'agent', parts: [{ text: 'Paid.' }] },
];
const open = { role: 'user', parts: [{ text: 'Refund A-1042' }] };
/** A task of before, in which a call ran. */
const detail: any = {
  ...{ id: 't-0', context_id: 'c-1', state: 'completed', text: '', changed_at: at },
  task: { history: earlier },
  decisions: [
    { call_id: '1', tool: 'pay', layer: 'modify', decision: 'modify', reason: '', duration_ms: 4 },
  ],
  timeline: [
    { seq: 1, at, event: 'tool_exec', fields: { tool: 'pay', phase: 'start' } },
    { seq: 2, at, event: 'tool_exec', fields: { tool: 'pay', phase: 'end', duration_ms: 12 } },
  ],
};
const failure = { error: 'The store is busy.' };
const rejoins = 'Connection lost. The task continues; reconnecting …';
const chat = /^(POST \/chat|GET \/tasks\/t-\d\/events)/;

/** A conversation to which a tab comes back after a reload. */
async function openConversation() {
  const known = { 'GET /sessions': sessions, 'GET /tasks/t-0': detail };
  const asked = await openAskedPage(browser, '#/agents/refunds/chat', known, async (page) => {
    await page.clock.install();
    await page.addInitScript(`sessionStorage.setItem('${key}', 'c-1')`);
  });
  const session = () => asked.page.evaluate<string | null>(`sessionStorage.getItem('${key}')`);
  // How often a stream has broken off in a row, and how many cancels wait for their answer.
  return { ...asked, session, count: { failures: 0, cancels: 0 } };
}

type World = Awaited<ReturnType<typeof openConversation>>;

const isListening = (snapshot: AnyMachineSnapshot) => snapshot.matches('answering');
const isIn = (state: string) => (snapshot: AnyMachineSnapshot) =>
  isListening(snapshot) && snapshot.value.answering === state;
const isNamed = ({ context }: AnyMachineSnapshot) => context.task !== null;
const isIdle = (snapshot: AnyMachineSnapshot) => snapshot.matches('idle');

/** A session is read: its messages, and the task that runs in it. */
function opens(task: string | null): Happening<World> {
  const messages = task === null ? earlier : [...earlier, open];
  return {
    event: {
      type: 'xstate.done.actor.0.conversation.opening',
      output: { turns: turnsOf(messages), running: task },
    },
    in: (snapshot) => snapshot.matches('opening'),
    happen: async ({ server, session }) => {
      const id = await session();
      const tasks = [listedTask(1, { id: 't-1', context_id: id ?? '', state: 'working' })];
      await server.answer('GET /sessions/', { id, messages });
      await server.answer('GET /tasks?limit=50', { tasks: task === null ? [] : tasks });
    },
  };
}

function taskOf(id: string, session: string, state: string) {
  const artifacts = state === 'completed' ? [{ parts: [{ text: 'Paid 89.90.' }] }] : [];
  return { id, contextId: session, status: { state }, history: [open], artifacts };
}

function tells(
  state: string,
  isPossible: (snapshot: AnyMachineSnapshot) => boolean,
): Happening<World> {
  return {
    event: ({ context }) => ({
      type: 'task.told',
      task: readToldTask(taskOf(context.task ?? 't-1', context.session ?? 'c-1', state)),
    }),
    in: isPossible,
    happen: async ({ server, session, count }) => {
      const stream = await server.stream(chat);
      const id = /t-\d/.exec(stream.line)?.[0] ?? 't-1';
      const task = taskOf(id, (await session()) ?? 'c-1', state);
      stream.write(`event: status\ndata: ${JSON.stringify(task)}\n\n`);
      count.failures = 0;
    },
  };
}

/** Another tab, or a chat platform, moves a task of this session. */
function sees(id: string, state: string): Happening<World> {
  return {
    event: { type: 'task.seen', task: id, state },
    in: (snapshot) => isIdle(snapshot) && snapshot.context.session !== null,
    happen: async ({ server, session }) => {
      const task = listedTask(1, { id, context_id: (await session()) ?? '', state });
      server.push('task', { agent_id: 'refunds', task });
    },
  };
}

/** Its time does not advance between a broken stream and the reconnect. */
async function stopTime({ page }: World): Promise<void> {
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + 1_000);
}

const happenings: Happenings<World> = {
  'it is read': opens(null),
  'it is read while a task runs': opens('t-1'),
  'it cannot be read': {
    event: { type: 'xstate.error.actor.0.conversation.opening', error: new Error(failure.error) },
    in: (snapshot) => snapshot.matches('opening'),
    happen: async ({ refuse, server }) => {
      await refuse('GET /sessions/', failure, 500);
      await server.answer('GET /tasks?limit=50', { tasks: [] });
    },
  },
  'another one is chosen': {
    event: ({ context }) => ({
      type: 'session.chosen',
      session: context.session === 'c-1' ? 'c-2' : 'c-1',
    }),
    in: (snapshot) => snapshot.matches('opening') || isIdle(snapshot) || isIn('held')(snapshot),
    happen: ({ page }) =>
      page.locator('nav[aria-label=Conversations] li button:not([aria-current])').first().click(),
  },
  'a new one is begun': {
    event: { type: 'session.left' },
    in: (snapshot) =>
      snapshot.context.session !== null && !isIn('held')(snapshot) && !isIn('stopping')(snapshot),
    happen: ({ page, press }) => press('New conversation').then(() => page.clock.resume()),
  },
  'its calls are read': {
    event: { type: 'task.recalled', task: 't-0', detail },
    in: (snapshot) => isRecalling(snapshot) && (isIdle(snapshot) || isIn('streaming')(snapshot)),
    happen: async ({ server, session }) => {
      const row = listedTask(1, { id: 't-0', context_id: (await session()) ?? '' });
      await server.answer('GET /tasks?limit=100', { tasks: [row] });
    },
  },
  'a message is sent': {
    event: { type: 'message.sent', message: 'Refund A-1042' },
    in: isIdle,
    happen: async ({ page }) => {
      await page.getByLabel('Message', { exact: true }).fill('Refund A-1042');
      await page.keyboard.press('Enter');
    },
  },
  'another tab begins a task': sees('t-2', 'working'),
  'another tab ends a task': sees('t-2', 'completed'),
  'old news of a task comes': sees('t-0', 'working'),
  'the agent works': tells('working', isListening),
  'a call is held': tells('input-required', isListening),
  'the answer is there': tells('completed', isListening),
  'it is stopped': tells('canceled', isIn('stopping')),
  'words come': {
    event: { type: 'progress.told', progress: { phase: 'token', text: 'Let me look.' } },
    in: isIn('streaming'),
    happen: async ({ server }) => {
      const progress = { task_id: 't-1', phase: 'token', text: 'Let me look.' };
      const stream = await server.stream(chat);
      stream.write(`event: progress\ndata: ${JSON.stringify(progress)}\n\n`);
    },
  },
  'it is to stop': {
    event: { type: 'stop.asked' },
    in: (snapshot) => isListening(snapshot) && isNamed(snapshot) && !isIn('stopping')(snapshot),
    happen: async ({ page, press, count }) => {
      await press('Stop');
      // It has the focus still, and is pressed once.
      await page.keyboard.press('Enter');
      count.cancels += 1;
    },
  },
  'it cannot be stopped': {
    event: { type: 'stop.failed', problem: failure.error },
    in: isIn('stopping'),
    happen: async ({ refuse, count }) => {
      await refuse(/cancel/, failure, 500);
      count.cancels -= 1;
    },
  },
  'the agent heard that': {
    event: [],
    in: isIn('stopping'),
    happen: async ({ server, count }) => {
      await server.answer(/cancel/, {});
      count.cancels -= 1;
    },
  },
  'the stream breaks off': {
    event: { type: 'stream.ended', problem: null },
    in: isListening,
    happen: async (world) => {
      await stopTime(world);
      (await world.server.stream(chat)).end();
      world.count.failures += 1;
    },
  },
  'the agent says why it took nothing': {
    event: { type: 'stream.ended', problem: failure.error },
    in: (snapshot) => isListening(snapshot) && !isNamed(snapshot),
    happen: async ({ server }) => {
      const stream = await server.stream(chat);
      stream.write(`event: error\ndata: ${JSON.stringify(failure)}\n\n`);
      stream.end();
    },
  },
  'the server refuses': {
    event: { type: 'stream.ended', problem: failure.error },
    in: isIn('sending'),
    happen: async (world) => {
      await stopTime(world);
      await world.refuse(chat, failure, 500);
      world.count.failures += 1;
    },
  },
  'a while goes by': {
    event: { type: 'xstate.after.backOff.conversation.rejoining' },
    in: (snapshot) => snapshot.matches('rejoining'),
    happen: async ({ page, server, count }) => {
      const wait = 250 * 2 ** count.failures;
      await page.clock.runFor(wait - 1);
      expect(server.underWay().filter((line) => chat.test(line))).toEqual([]);
      await page.clock.runFor(1);
      await page.clock.resume();
    },
  },
};

function isRecalling({ children, context }: AnyMachineSnapshot): boolean {
  const turns: Turn[] = context.turns;
  return (
    'recall' in children && !turns.some(({ parts }) => parts.some(({ kind }) => kind === 'tool'))
  );
}

/** What the page shows of its chart, and what it waits for. */
async function look(world: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { context, value } = snapshot;
  const { page, server, session, count } = world;
  const isBusy = isListening(snapshot) || value === 'rejoining';
  const asked = [
    ...(value === 'opening' ? [`GET /sessions/${context.session}`, 'GET /tasks?limit=50'] : []),
    ...(isRecalling(snapshot) ? ['GET /tasks?limit=100'] : []),
    ...(isListening(snapshot) ? [askedBy(snapshot)] : []),
    ...Array.from({ length: count.cancels }, () => 'POST /tasks/t-1/cancel {}'),
  ];
  if (isIn('stopping')(snapshot)) expect(await hasFocus(page)).toBe(true);
  // Whether a task works, and whether it waits, looks the same here: a call that waits is shown as the workspace tells it,
  // and what the page does next tells the two apart.
  expect([await shownBy(page), await session(), server.underWay().toSorted()]).toEqual([
    {
      turns: context.turns.map((turn: Turn, index: number) =>
        shownOf(turn, isBusy && index === context.turns.length - 1),
      ),
      says: value === 'opening' ? 'Loading …' : value === 'rejoining' ? rejoins : null,
      alerts: context.problem === null ? [] : [context.problem],
      stop: isIn('stopping')(snapshot)
        ? '(Stopping …)'
        : isListening(snapshot) && isNamed(snapshot)
          ? 'Stop'
          : null,
      field: context.unsent,
    },
    context.session,
    asked.toSorted(),
  ]);
}

function askedBy(snapshot: AnyMachineSnapshot): string {
  const { message, session, task }: Listening = inputOf(snapshot, '0.conversation.answering');
  if (task !== null) return `GET /tasks/${task}/events`;
  const body = { message, ...(session === null ? {} : { session_id: session }) };
  return `POST /chat ${JSON.stringify(body)}`;
}

function shownOf({ asked, parts, state }: Turn, isBusy: boolean) {
  const busy = state === 'sent' ? 'Sending …' : 'Working …';
  return {
    asked,
    said: parts.map((part) => (part.kind === 'text' ? part.text : `${part.tool} done`)),
    isBusy,
    note: state === 'canceled' ? 'Stopped.' : isBusy ? busy : null,
  };
}

function shownBy(page: World['page']) {
  return page.evaluate(() => {
    const main = (globalThis as any).document.querySelector('main');
    const all = (from: any, selector: string): any[] => [...from.querySelectorAll(selector)];
    const words = (element: any): string | null => element?.innerText.trim() ?? null;
    const stop = all(main, 'button').find((button) => button.innerText.startsWith('Stop'));
    return {
      turns: all(main, 'article').map((turn) => ({
        asked: words(turn.querySelector('.asked bdi')),
        said: all(turn, '.markdown, .call .line').map((part) =>
          part.matches('.line')
            ? [part.querySelector('code'), [...part.querySelectorAll('.muted')].at(-1)]
                .map(words)
                .join(' ')
            : words(part),
        ),
        isBusy: turn.querySelector('.agent').ariaBusy === 'true',
        note: words(turn.querySelector('.agent > p.muted')),
      })),
      says: words(main.querySelector('.log p[role=status]')),
      alerts: all(main, '.content > [role=alert]').map(words),
      stop:
        stop === undefined ? null : stop.ariaDisabled === 'true' ? `(${words(stop)})` : words(stop),
      field: main.querySelector('textarea').value,
    };
  });
}

describe('the shortest paths of a conversation, in the page', () => {
  walkShown(conversationMachine, happenings, openConversation, look, {
    input: { session: 'c-1' },
    fingerprint: (snapshot) => [
      snapshot.context.session !== null,
      isListening(snapshot) && isNamed(snapshot),
    ],
  });
});
