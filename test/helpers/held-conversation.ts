import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished, vi } from 'vitest';
import type { AnyActorRef } from 'xstate';
import type { ConversationPort } from '../../src/actors/channels/conversation-port.ts';
import { AgentSurface } from '../../src/actors/channels/conversations/agent-surface.ts';
import { Conversations } from '../../src/actors/channels/conversations/conversations.ts';
import { aSaying, aTurn } from './chat-thread.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';
import { ManualClock } from './manual-clock.ts';
import { patient } from './patient.ts';
import { logTo, type TestAgent } from './test-agent.ts';
import { openStore, temporaryFolder } from './test-system.ts';

const soon = { ...patient, interval: 3 };

/** The call that waits in these tests. */
export const heldCall = { id: 'd-1', tool: 'pay', to: 'channel:slack:refunds' };

/** The standing of a run, as the agent shows its task. */
export type Shown = { state: string; text?: string; isHeld?: boolean };

/** An agent over HTTP that answers a message, and reports its task, when a test lets it. */
async function openAgent(isKnown: boolean) {
  const posts: ServerResponse[] = [];
  const streams: ServerResponse[] = [];
  let messageId = 'memory:m-1';
  const taskOf = ({ state, text = '', isHeld = false }: Shown): string =>
    JSON.stringify({
      status: { state },
      history: [{ role: 'user', messageId, parts: [] }],
      artifacts: [{ parts: [{ kind: 'text', text }] }],
      metadata: isHeld ? { deferral: heldCall } : {},
    });
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString();
    if (request.url?.endsWith('/events') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.push(response);
    } else if (request.method === 'POST') {
      ({ messageId } = JSON.parse(body).task.message);
      posts.push(response);
    } else if (isKnown) response.end(taskOf({ state: 'working' }));
    else response.writeHead(404).end('{}');
  };
  const server = createServer((request, response) => void serve(request, response));
  /** Resolves once the agent was asked about a message. */
  const knows = (id: string) => vi.waitUntil(() => messageId === `memory:${id}`, soon);
  return { url: await listenOnLoopback(server), posts, streams, taskOf, knows };
}

/** A chat that accepts each post and mark when a test lets it. */
class HeldChat implements ConversationPort {
  #next: { taken: () => void; refused: (error: Error) => void } | null = null;

  mark(): Promise<void> {
    return this.#put();
  }

  say(): Promise<void> {
    return this.#put();
  }

  /** Takes the next one, once it has come; an error is what the chat says instead. */
  async take(error: Error | null = null): Promise<void> {
    const { taken, refused } = await vi.waitUntil(() => this.#next, soon);
    this.#next = null;
    if (error === null) taken();
    else refused(error);
  }

  #put(): Promise<void> {
    return new Promise((taken, refused) => {
      this.#next = { taken, refused };
    });
  }
}

/** A thread in which one thing was said; one that a restart finds late when the agent knows the message. */
export async function openConversation(actors: readonly AnyActorRef[], isKnown = false) {
  const clock = new ManualClock(0);
  const { url, posts, streams, taskOf, knows } = await openAgent(isKnown);
  const store = await openStore(temporaryFolder());
  const chat = new HeldChat();
  const log: TestAgent['log'] = [];
  const conversations = new Conversations({
    surface: new AgentSurface({ url, token: 'it', fetch }),
    ports: () => chat,
    rows: store.conversations,
    clock,
    log: logTo(log),
  });
  onTestFinished(async () => {
    const stopped = conversations.stop();
    clock.advance(5_000);
    await stopped;
    await store.close();
  });
  if (isKnown) await store.conversations.take({ ...aTurn(), isLate: true }, 0);
  conversations.start();
  if (!isKnown) await conversations.receive(aSaying());
  await vi.waitUntil(() => actors.length > 0, soon);
  let said = 1;
  /** Resolves with the stream over which the task is followed. */
  const followed = async () => {
    if (streams.length === 0) clock.advance(200);
    return vi.waitUntil(() => streams[0], soon);
  };
  return {
    ...{ actors, clock, chat, log, store, isKnown },
    /** Resolves with the message that was put to the agent, which is answered with it. */
    asked: () => vi.waitUntil(() => posts.shift(), soon),
    taskOf,
    /** Tells of the task. */
    async tell(shown: Shown) {
      await knows(actors.at(-1)?.getSnapshot().context.turns[0].message.id);
      (await followed()).write(`event: task\ndata: ${taskOf(shown)}\n\n`);
    },
    /** Has the task followed, and leaves that to what is about to end. */
    async leaveTask() {
      await followed();
      streams.length = 0;
    },
    sayMore() {
      said += 1;
      return conversations.receive(aSaying({ id: `m-${said}` }));
    },
  };
}
