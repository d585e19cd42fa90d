import { createActor } from 'xstate';
import type { AgentJson } from '../../http/wire/dashboard/agent-json.ts';
import type { DeferralsJson } from '../../http/wire/dashboard/held-call-json.ts';
import type { WorkspaceJson } from '../../http/wire/dashboard/workspace-json.ts';
import { ApiClient, ApiError } from './api/client.ts';
import { sentenceOf } from './api/sentence-of.ts';
import { Session } from './api/session.ts';
import { shareStream } from './connection/share-stream.ts';
import type { StreamEvent } from './connection/stream-event.ts';
import { notifyOfWaits } from './state/notify.ts';
import { ServerClock } from './state/server-clock.ts';
import { tellOfDecisions } from './state/tell-decided.ts';
import { createToasts } from './state/toasts.ts';
import { createWorkspace } from './state/workspace.ts';

export type Dashboard = ReturnType<typeof startDashboard>;

/**
 * Puts the page together: what it knows, whom it asks, and the stream that keeps it up to date. A view gets it whole and
 * takes what it needs.
 */
export function startDashboard() {
  const session = new Session();
  session.takeFromAddress();
  const clock = new ServerClock();
  const toasts = createToasts();
  const workspace = createWorkspace();
  const client = new ApiClient(
    session,
    (at) => clock.heard(at),
    () => workspace.trigger.refused({ token: session.token === null ? 'missing' : 'wrong' }),
  );
  /** Events that arrive while everything is read again are newer than what is read. */
  let held: StreamEvent[] | null = null;

  /** How many calls of each agent are asked for; 0 for as many as usual. */
  let most = 0;

  async function readAll(): Promise<void> {
    const events: StreamEvent[] = [];
    held = events;
    try {
      const [about, agents, { deferrals, unasked, now }] = await Promise.all([
        client.get<WorkspaceJson>('/api/workspace'),
        client.get<AgentJson[]>('/api/agents'),
        client.get<DeferralsJson>(`/api/deferrals${most === 0 ? '' : `?most=${most}`}`),
      ]);
      // What a later reading has begun to tell is newer, whichever of them is answered first.
      if (held !== events) return;
      clock.heard(Date.parse(now));
      workspace.trigger.read({ about, agents, deferrals, unasked });
    } catch (error) {
      if (held !== events) return;
      if (!(error instanceof ApiError && error.status === 401)) {
        workspace.trigger.failed({ problem: sentenceOf(error) });
      }
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
  void readAll();

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
