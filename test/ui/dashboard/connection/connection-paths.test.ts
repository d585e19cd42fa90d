import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import type { AnyMachineSnapshot, StateValue } from 'xstate';
import type { AgentJson } from '../../../../src/http/wire/dashboard/agent-json.ts';
import {
  type ConnectionEvent,
  connectionMachine,
  type TabMessage,
} from '../../../../src/ui/dashboard/connection/connection-machine.ts';
import type { StreamEvent } from '../../../../src/ui/dashboard/connection/stream-event.ts';
import { forgive, TestBrowser } from '../../../helpers/browser.ts';
import type { Happening, Happenings } from '../../../helpers/chart-walk.ts';
import { anAgent } from '../../../helpers/page-fixtures.ts';
import { type PageServer } from '../../../helpers/page-server.ts';
import { walkPage } from '../../../helpers/page-walk.ts';
import { patient } from '../../../helpers/patient.ts';
import { startPageServer } from '../page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

interface World {
  server: PageServer;
  page: Page;
  other: OtherTab;
  asked: readonly unknown[];
  due: unknown[];
  /** Agents that the page has received. */
  agents: string[];
  /** Id of the last event that it received. */
  last: string;
  /** Events that the server has sent. */
  sent: number;
  failures: number;
  /** Whether it has been without a stream for long. */
  isLate: boolean;
  /** Takes the request for a stream that is under way. */
  stream: () => Promise<Route>;
}

/** Another tab of the same browser, without the page. It sends what a test requests, and records what it receives. */
class OtherTab {
  readonly told: TabMessage[] = [];
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async open(page: Page, url: string): Promise<OtherTab> {
    const tab = new OtherTab(page);
    await page.exposeFunction('hear', (message: TabMessage) => tab.told.push(message));
    await page.goto(`${url}api/workspace`);
    await page.evaluate(() => {
      const { hear, BroadcastChannel } = globalThis as any;
      (globalThis as any).channel = new BroadcastChannel('holdpoint-events');
      (globalThis as any).channel.onmessage = ({ data }: any) => hear(data);
    });
    await tab.lead();
    return tab;
  }

  /** Takes the lock of the browser as soon as nobody has it. */
  async lead(): Promise<void> {
    await this.#page.evaluate(async () => {
      const { navigator } = globalThis as any;
      const held = Promise.withResolvers<void>();
      (globalThis as any).letGo = held.resolve;
      await new Promise<void>((taken) => {
        void navigator.locks.request('holdpoint-events', () => {
          taken();
          return held.promise;
        });
      });
    });
  }

  async letGo(): Promise<void> {
    await this.#page.evaluate('letGo()');
  }

  async tell(message: TabMessage): Promise<void> {
    await this.#page.evaluate((data) => (globalThis as any).channel.postMessage(data), message);
  }
}

/** A tab of the page, while another one leads and nobody has a stream. */
async function openTab(): Promise<World> {
  const server = await startPageServer();
  const { page, complaints } = await browser.page();
  forgive(complaints, ['401', 'ERR_']);
  const other = await OtherTab.open(await page.context().newPage(), server.url);
  const streams: Route[] = [];
  const asked: string[] = [];
  const agents: string[] = [];
  await page.route('**/api/events', (route) => {
    asked.push(`a stream from ${route.request().headers()['last-event-id'] ?? 'nowhere'}`);
    streams.push(route);
  });
  server.routes.set('GET /api/agents', () => {
    asked.push('everything');
    return { body: agents.map((id) => anAgent({ id })) };
  });
  const now = Date.now();
  await page.clock.install({ time: now });
  await page.clock.pauseAt(now + 1_000);
  await page.goto(server.url);
  const world: World = {
    ...{ server, page, other, agents, last: '', sent: 0, failures: 0, isLate: false },
    due: ['everything', { kind: 'asked' }],
    get asked() {
      return [...asked, ...other.told];
    },
    stream: () => vi.waitUntil(() => streams.shift(), patient),
  };
  return world;
}

const isIn = (value: StateValue) => (snapshot: AnyMachineSnapshot) => snapshot.matches(value);
/** Whether it received an event, from which a stream resumes. */
const hasSeen = ({ context }: AnyMachineSnapshot) => context.lastEventId !== '';
const isFollowing = isIn({ sharing: 'following' });
const isConnecting = isIn({ sharing: { leading: { streaming: 'connecting' } } });
const isStreaming = isIn({ sharing: { leading: { streaming: 'open' } } });
const isBackingOff = isIn({ sharing: { leading: 'backingOff' } });

function happens(
  event: ConnectionEvent | [],
  isPossible: (snapshot: AnyMachineSnapshot) => boolean,
  happen: (world: World) => Promise<void> | void,
): Happening<World> {
  return { event, in: isPossible, happen };
}

/** The next event for any subscriber, which adds another agent. */
function nextEvent({ agents }: World, id: string): StreamEvent {
  const agent = anAgent({ id: `agent-${agents.length + 1}` });
  agents.push(agent.id);
  return { id, name: 'agent_created', data: agent };
}

const streamFrom = ({ last }: World) => `a stream from ${last === '' ? 'nowhere' : last}`;

function breaks({ due }: World): void {
  due.push({ kind: 'broken' });
}

const created: StreamEvent = { id: '70', name: 'agent_created', data: anAgent() };

const happenings: Happenings<World> = {
  'the other tab has a stream': happens({ type: 'tab.open' }, isFollowing, ({ other }) =>
    other.tell({ kind: 'open' }),
  ),
  'the other tab loses it, and three seconds pass': happens(
    { type: 'tab.broken' },
    isFollowing,
    async (world) => {
      await world.other.tell({ kind: 'broken' });
      world.isLate = true;
    },
  ),
  'the other tab tells of an event': happens(
    { type: 'tab.event', event: created },
    isFollowing,
    async (world) => {
      world.last = '70';
      await world.other.tell({ kind: 'event', event: nextEvent(world, '70') });
    },
  ),
  'the other tab is closed': happens({ type: 'leadership.won' }, isFollowing, async (world) => {
    await world.other.letGo();
    world.due.push(streamFrom(world));
  }),
  'another tab asks': happens({ type: 'tab.asked' }, isStreaming, async ({ other, due }) => {
    await other.tell({ kind: 'asked' });
    due.push({ kind: 'open' });
  }),
  'another tab asks too early': happens(
    { type: 'tab.asked' },
    (snapshot) => !hasSeen(snapshot) && (isConnecting(snapshot) || isBackingOff(snapshot)),
    ({ other }) => other.tell({ kind: 'asked' }),
  ),
  'the stream opens': happens({ type: 'stream.opened' }, isConnecting, async (world) => {
    await (await world.stream()).continue();
    if (world.last === '') world.due.push('everything');
    world.due.push({ kind: 'open' });
    world.failures = 0;
  }),
  'the stream tells of an event': happens(
    { type: 'stream.event', event: created },
    isStreaming,
    (world) => {
      // The server counts filter by task from 1.
      world.sent += 1;
      world.last = String(world.sent);
      const event = nextEvent(world, world.last);
      world.server.emit('agent_created', event.data as AgentJson);
      world.due.push({ kind: 'event', event });
    },
  ),
  'the stream ends': happens({ type: 'stream.ended' }, isStreaming, (world) => {
    world.server.dropStreams();
    world.failures += 1;
    breaks(world);
  }),
  'the stream does not open': happens({ type: 'stream.ended' }, isConnecting, async (world) => {
    await (await world.stream()).abort('connectionrefused');
    world.failures += 1;
    breaks(world);
  }),
  'it is time to try again': {
    event: { type: 'xstate.after.backOff.connection.sharing.leading.backingOff' },
    in: isBackingOff,
    happen: async (world) => {
      await world.page.clock.runFor(Math.min(8_000, 250 * 2 ** world.failures));
      world.due.push(streamFrom(world));
    },
  },
  'the server refuses the token': happens(
    { type: 'stream.refused' },
    isConnecting,
    async ({ stream, other }) => {
      await (await stream()).fulfill({ status: 401, json: { error: 'unauthorized' } });
      // It leads no longer.
      await other.lead();
    },
  ),
  'the person gives another one': happens(
    { type: 'session.changed' },
    isIn('refused'),
    async ({ page, due }) => {
      await page.getByLabel('Token').fill('CANARY-9d2f');
      await page.keyboard.press('Enter');
      due.push('everything', { kind: 'asked' });
    },
  ),
  'three seconds pass': {
    event: [],
    // What was seen changes nothing of this.
    in: (snapshot) => !hasSeen(snapshot) && !isBackingOff(snapshot),
    happen: async (world) => {
      await world.page.clock.runFor(3_000);
      world.isLate = true;
    },
  },
};

/** Looks at what the tab knows, and whether it says that this may be old. */
async function look(world: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { page, agents } = world;
  const isRefused = snapshot.matches('refused');
  if (isRefused || snapshot.hasTag('open')) world.isLate = false;
  // What the other tab says may come only now.
  if (world.isLate && isFollowing(snapshot)) await page.clock.runFor(3_000);
  const shown = {
    agents: await page.locator('nav.agents .name').allInnerTexts(),
    isLate: await page.getByText('so this page is out of date').isVisible(),
    isRefused: await page.getByLabel('Token').isVisible(),
  };
  expect(shown).toEqual({ agents, isLate: world.isLate, isRefused });
}

describe('the shortest paths of the connection of a tab, in the page', () => {
  walkPage(connectionMachine, happenings, openTab, look, { fingerprint: hasSeen });
});
