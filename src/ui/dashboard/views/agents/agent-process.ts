import { createActor, fromPromise } from 'xstate';
import { ApiError } from '../../api/api-error.ts';
import type { ApiClient } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import { PassphraseNeeded, processMachine } from './process-machine.ts';

export type AgentProcess = ReturnType<typeof startProcess>;

/**
 * Creates the actor that starts, stops and restarts one agent; its state determines the questions to the user. `done`
 * is called when the server has accepted a request.
 */
export function startProcess(client: ApiClient, agent: string, done = (): void => undefined) {
  return createActor(
    processMachine.provide({
      actors: {
        send: fromPromise(async ({ input: { verb, passphrase } }) => {
          try {
            const body = passphrase === null ? {} : { passphrase };
            await client.post(agentPath(agent, verb), verb === 'stop' ? {} : body);
            done();
          } catch (error) {
            throw wantsPassphrase(error) ? new PassphraseNeeded(error.message) : error;
          }
        }),
      },
    }),
  ).start();
}

function wantsPassphrase(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.status !== 400) return false;
  const { body } = error;
  return typeof body === 'object' && body !== null && 'needs_passphrase' in body;
}
