import type { SignInStatusJson } from '../wire/dashboard/wizard-json.ts';

/** Browser sign-ins to model providers. Tokens are never returned. */
export interface SignInPort {
  /** On failure, the message says why a browser sign-in to the provider is not possible. */
  start(
    provider: string,
    redirectUri: string,
  ): Promise<{ ok: true; url: string; state: string } | { ok: false; message: string }>;
  /** Completes a sign-in and returns its result; `refused` also if no matching sign-in is waiting. */
  callback(parameters: URLSearchParams): Promise<'signed_in' | 'refused' | 'called_off'>;
  /** Cancels a sign-in; `null` if there is none, false if an agent is being created with it. */
  cancel(state: string): boolean | null;
  status(state: string): SignInStatusJson | null;
}
