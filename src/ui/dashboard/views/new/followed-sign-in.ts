import { fromCallback, fromPromise } from 'xstate';
import type {
  SignInStartedJson,
  SignInStatusJson,
} from '../../../../http/wire/dashboard/wizard-json.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import { type BrowserSignInEvent, browserSignInMachine } from './browser-sign-in-machine.ts';

/**
 * Connects the chart of a sign-in to the browser. The provider's tab has no reference to this page. The status is
 * loaded when the stream reports a change.
 */
export function followedSignIn({ client, workspace }: Pick<Dashboard, 'client' | 'workspace'>) {
  const callOff = (state: string): void => {
    // A failed cancel has no consequences: a sign-in lasts at most ten minutes.
    client.post('/api/oauth/cancel', { state }).catch(() => undefined);
  };
  return browserSignInMachine.provide({
    actors: {
      start: fromPromise(async ({ input, signal }) => {
        const started = await client.post<SignInStartedJson>('/api/oauth/start', input);
        // The user left in the meantime, so the sign-in is cancelled.
        if (signal.aborted) callOff(started.state);
        return started;
      }),
      follow: fromCallback<BrowserSignInEvent, { state: string }>(({ input, sendBack }) => {
        const path = `/api/oauth/status?${new URLSearchParams(input).toString()}`;
        let reading = new AbortController();
        const read = async (): Promise<void> => {
          reading.abort();
          const mine = new AbortController();
          reading = mine;
          const status = await client
            .get<SignInStatusJson>(path, mine.signal)
            .catch((error: unknown) => statusOf(error));
          if (status !== null && !mine.signal.aborted) sendBack({ type: 'status.told', status });
        };
        const subscription = workspace.on('signInsMoved', () => void read());
        void read();
        return () => {
          subscription.unsubscribe();
          reading.abort();
        };
      }),
    },
    actions: {
      callOff: (_, { state }) => callOff(state),
      openPage: (_, { url }) => void open(url, '_blank', 'noopener,noreferrer'),
    },
  });
}

/**
 * A sign-in ends only if the server refuses it. If the server is unreachable, it is asked again once the stream is back.
 */
function statusOf(error: unknown): SignInStatusJson | null {
  if (!(error instanceof ApiError) || error.status !== 404) return null;
  return { status: 'failed', error: error.message };
}
