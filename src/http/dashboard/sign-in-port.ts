import type { SignInStatusJson } from '../wire/dashboard/wizard-json.ts';

/** Sign-ins to a provider of models with a browser; their tokens are never told. */
export interface SignInPort {
  /** The message says why no browser can sign in to the provider. */
  start(
    provider: string,
    redirectUri: string,
  ): Promise<{ ok: true; url: string; state: string } | { ok: false; message: string }>;
  /** Says what became of it; `refused` too when no sign-in waits for it. */
  callback(parameters: URLSearchParams): Promise<'signed_in' | 'refused' | 'called_off'>;
  /** Calls one off; `null` when there is none, false when an agent is made with it. */
  cancel(state: string): boolean | null;
  status(state: string): SignInStatusJson | null;
}
