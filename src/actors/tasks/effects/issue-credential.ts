import { fromPromise } from 'xstate';
import type { MintInput, MintOutcome } from '../../../machines/task/task-events.ts';
import { elapsed } from '../../elapsed.ts';
import {
  CredentialError,
  type CredentialIssuer,
  type CredentialVault,
} from '../../governance/governance.ts';
import type { Clock, Log } from '../../ports.ts';

/** What making credentials needs from outside. */
export interface IssueCredentialPorts {
  /** `null` when no tool has credentials. */
  issuer: CredentialIssuer | null;
  vault: CredentialVault;
  clock: Clock;
  log: Log;
}

/**
 * Issues the credentials of one call and keeps them in the vault until that
 * call takes them. The chart only hears that they exist, or in words why not.
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
