import { createActor } from 'xstate';
import type { SignedOutJson } from '../../http/wire/approvals-page.ts';
import { ApiError } from './api/api-error.ts';
import { askAll, type WorkspaceAnswers } from './api/ask-all.ts';
import { type ApiClient, isForPerson } from './api/client.ts';
import { sentenceOf } from './api/sentence-of.ts';
import type { Session } from './api/session.ts';
import { shareStream } from './connection/share-stream.ts';
import type { StreamEvent } from './connection/stream-event.ts';
import { createDecided, followDecided } from './state/decided.ts';
import { createMe } from './state/me.ts';
import { notifyOfWaits } from './state/notify.ts';
import { ServerClock } from './state/server-clock.ts';
import { tellOfDecisions } from './state/tell-decided.ts';
import { createToasts } from './state/toasts.ts';
import { createWorkspace } from './state/workspace.ts';

export type Dashboard = ReturnType<typeof startDashboard>;

export interface DashboardParts {
  session: Session;
  client: ApiClient;
  /** The data requested while the page was loading. */
  first: Promise<WorkspaceAnswers>;
}

/**
 * Assembles the page: its state, its API client, and the stream that keeps it up to date. Each view receives the whole
 * object.
 */
export function startDashboard({ session, client, first }: DashboardParts) {
  const clock = new ServerClock();
  const toasts = createToasts();
  const workspace = createWorkspace();
  client.heard = (at) => clock.heard(at);
  const me = createMe();
  client.refused = (isPerson) => {
    const token = session.token === null ? 'missing' : 'wrong';
    workspace.trigger.refused({ by: isPerson ? 'person' : token });
  };
  /** Events that arrive during a reload are newer than the loaded data. */
  let held: StreamEvent[] | null = null;

  /** Number of calls requested per agent; 0 for the default. */
  let most = 0;

  async function readAll(asked = askAll(client, most)): Promise<void> {
    const events: StreamEvent[] = [];
    held = events;
    try {
      const [about, agents, { deferrals, unasked, now }] = await asked;
      // A later reload has started and will be newer. This result is used only if there is no data yet.
      if (held !== events && workspace.getSnapshot().context.agents !== null) return;
      clock.heard(Date.parse(now));
      client.person = about.person ?? null;
      if (client.person !== null) me.trigger.verified({ email: client.person.email ?? '' });
      workspace.trigger.read({ about, agents, deferrals, unasked });
      if (held !== events) return;
    } catch (error) {
      if (held !== events) return;
      if (error instanceof ApiError && error.status === 401) client.refused(isForPerson(error));
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
  /** IDs of the calls decided on this page. */
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
    /** The decisions made on this page. */
    decided,
    /** The email address under which the user decides. */
    me,
    own,
    toasts,
    workspace,
    /** Reloads the workspace. */
    readAll,
    /** Loads more waiting calls. */
    readMore(): Promise<void> {
      most = Math.min(10_000, (most === 0 ? 500 : most) + 500);
      return readAll();
    },
    /** Ends the session of the person, and opens the sign-out of the issuer. */
    async signOut(): Promise<void> {
      const { to } = await client.post<SignedOutJson>('/approvals/api/sign-out');
      location.assign(to ?? '/');
    },
    /** Stores the dashboard's token. */
    signIn(token: string): void {
      session.signIn(token);
      signedIn();
    },
  };
}
