import { fromCallback, fromPromise } from 'xstate';
import type {
  SignInStartedJson,
  SignInStatusJson,
} from '../../../../http/wire/dashboard/wizard-json.ts';
import { ApiError } from '../../api/client.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import { type BrowserSignInEvent, browserSignInMachine } from './browser-sign-in-machine.ts';

/**
 * Gives the chart of a sign-in its effects: the provider has a tab that knows nothing of this one, and the status is read
 * when the stream says that one has moved.
 */
export function followedSignIn({ client, workspace }: Pick<Dashboard, 'client' | 'workspace'>) {
  const callOff = (state: string): void => {
    // One that cannot be called off any more is nobody's loss: it lasts ten minutes at most.
    client.post('/api/oauth/cancel', { state }).catch(() => undefined);
  };
  return browserSignInMachine.provide({
    actors: {
      start: fromPromise(async ({ input, signal }) => {
        const started = await client.post<SignInStartedJson>('/api/oauth/start', input);
        // Whoever left meanwhile is told of none.
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

/** Only the server's refusal ends a sign-in: whoever cannot be reached is asked again when the stream is back. */
function statusOf(error: unknown): SignInStatusJson | null {
  if (!(error instanceof ApiError) || error.status !== 404) return null;
  return { status: 'failed', error: error.message };
}
