import { createActor } from 'xstate';
import { askAll, type WorkspaceAnswers } from './api/ask-all.ts';
import { type ApiClient, ApiError } from './api/client.ts';
import { sentenceOf } from './api/sentence-of.ts';
import type { Session } from './api/session.ts';
import { shareStream } from './connection/share-stream.ts';
import type { StreamEvent } from './connection/stream-event.ts';
import { createDecided, followDecided } from './state/decided.ts';
import { notifyOfWaits } from './state/notify.ts';
import { ServerClock } from './state/server-clock.ts';
import { tellOfDecisions } from './state/tell-decided.ts';
import { createToasts } from './state/toasts.ts';
import { createWorkspace } from './state/workspace.ts';

export type Dashboard = ReturnType<typeof startDashboard>;

/** What is there before the page is put together. */
export interface DashboardParts {
  session: Session;
  client: ApiClient;
  /** What was asked for as the page came. */
  first: Promise<WorkspaceAnswers>;
}

/**
 * Puts the page together: what it knows, whom it asks, and the stream that keeps it up to date. A view gets it whole and
 * takes what it needs.
 */
export function startDashboard({ session, client, first }: DashboardParts) {
  const clock = new ServerClock();
  const toasts = createToasts();
  const workspace = createWorkspace();
  client.heard = (at) => clock.heard(at);
  client.refused = () =>
    workspace.trigger.refused({ token: session.token === null ? 'missing' : 'wrong' });
  /** Events that arrive while everything is read again are newer than what is read. */
  let held: StreamEvent[] | null = null;

  /** How many calls of each agent are asked for; 0 for as many as usual. */
  let most = 0;

  async function readAll(asked = askAll(client, most)): Promise<void> {
    const events: StreamEvent[] = [];
    held = events;
    try {
      const [about, agents, { deferrals, unasked, now }] = await asked;
      // What a later reading has begun to tell is newer, whichever of them is answered first; until then it is better
      // than nothing.
      if (held !== events && workspace.getSnapshot().context.agents !== null) return;
      clock.heard(Date.parse(now));
      workspace.trigger.read({ about, agents, deferrals, unasked });
      if (held !== events) return;
    } catch (error) {
      if (held !== events) return;
      if (error instanceof ApiError && error.status === 401) client.refused();
      else workspace.trigger.failed({ problem: sentenceOf(error) });
    }
    held = null;
    for (const event of events) apply(event);
  }

  function apply(event: StreamEvent): void {
    if (event.name === 'reset') return void readAll();
    if (held !== null) return void held.push(event);
    switch (event.name) {
      case 'agent_created':
      case 'agent_status':
        return workspace.trigger.agent({ agent: event.data });
      case 'agent_removed':
        return workspace.trigger.removed(event.data);
      case 'deferral':
        return workspace.trigger.deferral(event.data);
      case 'task':
        return workspace.trigger.task(event.data);
      case 'sign_in':
        return workspace.trigger.signInsMoved();
    }
  }

  const connection = createActor(shareStream(client, apply, () => void readAll()));
  connection.start();
  notifyOfWaits(workspace);
  /** The ids of the calls that this page decides on itself. */
  const own = new Set<string>();
  tellOfDecisions({ workspace, client, toasts }, own);
  const decided = createDecided();
  followDecided(decided, { workspace, client, toasts });
  void readAll(first);

  function signedIn(): void {
    workspace.trigger.signedIn();
    connection.send({ type: 'session.changed' });
    void readAll();
  }
  session.follow(signedIn);

  return {
    client,
    clock,
    connection,
    /** What this page has decided. */
    decided,
    own,
    toasts,
    workspace,
    /** Reads the workspace again. */
    readAll,
    /** Reads more of the calls that wait. */
    readMore(): Promise<void> {
      most = Math.min(10_000, (most === 0 ? 500 : most) + 500);
      return readAll();
    },
    /** Takes the token that the dashboard asks for. */
    signIn(token: string): void {
      session.signIn(token);
      signedIn();
    },
  };
}
