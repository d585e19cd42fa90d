import { fromPromise } from 'xstate';
import type { MintInput, MintOutcome } from '../../../machines/task/task-events.ts';
import { elapsed } from '../../elapsed.ts';
import {
  CredentialError,
  type CredentialIssuer,
  type CredentialVault,
} from '../../governance/governance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface IssueCredentialPorts {
  /** `null` if no tool has credentials. */
  issuer: CredentialIssuer | null;
  vault: CredentialVault;
  clock: Clock;
  log: Log;
}

/**
 * Issues the credential of a call and stores it in the vault until the call takes it. The chart receives only the
 * success, or the reason of a failure.
 */
export function createIssueCredential({ issuer, vault, clock, log }: IssueCredentialPorts) {
  return fromPromise<MintOutcome, MintInput>(async ({ input, signal }) => {
    const { call, taskId, provider } = input;
    const began = performance.now();
    const ended = () => ({
      provider,
      duration: elapsed(began),
      at: clock.now(),
    });
    try {
      if (issuer === null) throw new CredentialError(`${call.tool} has no credentials configured`);
      const { id: callId, tool } = call;
      const credential = await issuer.issue({ tool, taskId, callId, signal });
      if (signal.aborted) credential.revoke();
      else vault.put(callId, credential);
      return { kind: 'issued', ttl: credential.ttl, ...ended() };
    } catch (error) {
      if (error instanceof CredentialError)
        return { kind: 'failed', error: error.message, ...ended() };
      log.error({ error, task_id: taskId, tool: call.tool }, 'credentials: failed unexpectedly');
      const reason = `the credentials of ${call.tool} could not be made`;
      return { kind: 'failed', error: reason, ...ended() };
    }
  });
}
