import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { type Actor, createActor, fromPromise, waitFor } from 'xstate';
import type { Clock } from '../../actors/ports/clock.ts';
import { guardFetch } from '../../actors/providers/providers.ts';
import { signInMachine } from '../../machines/sign-in/sign-in-machine.ts';
import { readSignInSettings, type SignInSettings } from './sign-in-settings.ts';

/** Maximum concurrent sign-ins; a user has one or two. */
const mostSignIns = 32;

/** Timeout of a token exchange, in milliseconds. */
const patience = 30_000;

/** Maximum size of a token response, in bytes. */
const longestAnswer = 256 * 1024;

export interface SignInPorts {
  clock: Clock;
  /** Called whenever the status of a sign-in may have changed. */
  moved: () => void;
}

/** A sign-in cannot be started; the message gives the reason. */
export class SignInError extends Error {
  readonly code = 'sign_in_refused';
}

/** Outcome of a callback. */
export type CallbackOutcome = 'signed_in' | 'refused' | 'called_off';

interface SignIn {
  actor: Actor<typeof signInMachine>;
  /** Empty until issued; accessible only through `take`. */
  token: string;
}

const noSignIn =
  'no browser signs in to this provider here; give a key, or set SERVICE_OAUTH_CLIENT_ID for openai';

/**
 * Creates the sign-ins configured by `SERVICE_OAUTH_*`. With invalid settings none is available, and `start` reports
 * the reason.
 */
export function openSignIns(
  env: Readonly<Record<string, string | undefined>>,
  ports: SignInPorts,
): SignIns {
  try {
    return new SignIns(readSignInSettings(env), noSignIn, ports);
  } catch (error) {
    if (error instanceof RangeError) return new SignIns(null, error.message, ports);
    throw error;
  }
}

/** Sign-ins of this process, identified by `state`; tokens are returned only by `take`. */
export class SignIns {
  readonly #settings: SignInSettings | null;
  /** Why no sign-in is available. */
  readonly #refusal: string;
  readonly #ports: SignInPorts;
  readonly #all = new Map<string, SignIn>();

  constructor(settings: SignInSettings | null, refusal: string, ports: SignInPorts) {
    this.#settings = settings;
    this.#refusal = refusal;
    this.#ports = ports;
  }

  /** Providers that support signing in. */
  get providers(): string[] {
    return this.#settings === null ? [] : [this.#settings.provider];
  }

  /** Starts a sign-in and resolves with the authorization URL. Rejects with a SignInError. */
  async start(provider: string, redirectUri: string): Promise<{ url: string; state: string }> {
    const settings = this.#settings;
    if (settings?.provider !== provider) {
      throw new SignInError(this.#refusal);
    }
    this.#makeRoom();
    const state = generateRandomState();
    const verifier = generateRandomCodeVerifier();
    const exchange = fromPromise<void, { parameters: string }>(async ({ input, signal }) => {
      const parameters = new URLSearchParams(input.parameters);
      const asked = { settings, parameters, state, verifier, redirectUri, signal };
      const token = await exchangeCode(asked);
      // A token that arrives after cancellation is dropped.
      if (!signal.aborted) signIn.token = token;
    });
    const { clock, moved } = this.#ports;
    const actor = createActor(signInMachine.provide({ actors: { exchange } }), { clock });
    const signIn: SignIn = { token: '', actor };
    actor.start();
    actor.subscribe(moved);
    this.#all.set(state, signIn);
    const url = new URL(settings.authorizationUrl);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: settings.clientId,
      redirect_uri: redirectUri,
      scope: settings.scope,
      state,
      code_challenge_method: 'S256',
      code_challenge: await calculatePKCECodeChallenge(verifier),
    }).toString();
    return { url: url.href, state };
  }

  /** Handles the browser's callback and resolves with its outcome. */
  async callback(parameters: URLSearchParams): Promise<CallbackOutcome> {
    const found = this.#all.get(parameters.get('state') ?? '');
    if (found?.actor.getSnapshot().matches('calledOff') === true) return 'called_off';
    if (found === undefined || !found.actor.getSnapshot().matches('pending')) return 'refused';
    const error = parameters.get('error');
    if (error !== null || !parameters.has('code')) {
      found.actor.send({ type: 'callback.refused', error: error ?? '' });
      return 'refused';
    }
    found.actor.send({ type: 'callback.code', parameters: parameters.toString() });
    // A sign-in that was deleted meanwhile never changes its state, so `waitFor` rejects.
    await waitFor(found.actor, (snapshot) => !snapshot.matches('exchanging')).catch(
      () => undefined,
    );
    const snapshot = found.actor.getSnapshot();
    if (snapshot.matches('calledOff')) return 'called_off';
    return snapshot.matches('done') ? 'signed_in' : 'refused';
  }

  /**
   * Cancels a sign-in: its callback is ignored and its token dropped. Returns `null` for an unknown sign-in, and false
   * if an agent is being created with it.
   */
  cancel(state: string): boolean | null {
    const found = this.#all.get(state);
    if (found === undefined) return null;
    found.actor.send({ type: 'sign-in.cancel' });
    if (found.actor.getSnapshot().matches('taken')) return false;
    found.token = '';
    return true;
  }

  /** Returns the status of a sign-in; `null` for an unknown one. */
  status(state: string): { status: 'pending' | 'done' | 'failed'; error?: string } | null {
    const snapshot = this.#all.get(state)?.actor.getSnapshot();
    if (snapshot === undefined) return null;
    const { error } = snapshot.context;
    if (snapshot.value === 'calledOff') return { status: 'failed', error: 'it was called off' };
    if (snapshot.value === 'failed') return { status: 'failed', error: error ?? 'it has failed' };
    const isDone = snapshot.value === 'done' || snapshot.value === 'taken';
    return { status: isDone ? 'done' : 'pending' };
  }

  /** Returns the token of a sign-in once; `null` afterwards. */
  take(state: string, provider: string): string | null {
    const found = this.#all.get(state);
    if (found === undefined || this.#settings?.provider !== provider) return null;
    if (!found.actor.getSnapshot().matches('done')) return null;
    found.actor.send({ type: 'token.take' });
    return found.token;
  }

  /** Returns an unused token to its sign-in. */
  giveBack(state: string): void {
    this.#all.get(state)?.actor.send({ type: 'token.return' });
  }

  /** Deletes every sign-in. */
  close(): void {
    for (const { actor } of this.#all.values()) actor.stop();
    this.#all.clear();
  }

  /** Deletes the oldest sign-in, which is presumably abandoned. */
  #makeRoom(): void {
    for (const [state, { actor }] of this.#all) {
      if (this.#all.size < mostSignIns) return;
      actor.stop();
      this.#all.delete(state);
      this.#ports.moved();
    }
  }
}

interface Exchange {
  settings: SignInSettings;
  parameters: URLSearchParams;
  state: string;
  verifier: string;
  redirectUri: string;
  signal: AbortSignal;
}

/** Exchanges a code for a token. Rejects with a message without any text of the provider's response. */
async function exchangeCode(asked: Exchange): Promise<string> {
  const { settings, parameters, state, verifier, redirectUri, signal } = asked;
  const { issuer, tokenUrl, clientId } = settings;
  const server: AuthorizationServer = { issuer, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const options = {
    signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    [customFetch]: fetchOf(tokenUrl),
    [allowInsecureRequests]: new URL(tokenUrl).protocol === 'http:',
  };
  try {
    const valid = validateAuthResponse(server, client, parameters, state);
    const answer = await authorizationCodeGrantRequest(
      ...([server, client, None(), valid, redirectUri, verifier, options] as const),
    );
    const { access_token: token } = await processAuthorizationCodeResponse(server, client, answer);
    if (/^[\x21-\x7e]{1,8192}$/.test(token)) return token;
  } catch (error) {
    throw new Error('the provider gave no token for the code; sign in again', { cause: error });
  }
  throw new Error('the provider gave a token that no key can be; give a key instead');
}

/** Returns a fetch that reaches only the token endpoint; redirects are not followed. */
function fetchOf(tokenUrl: string): typeof globalThis.fetch {
  const guarded = guardFetch(globalThis.fetch, { bytes: longestAnswer });
  return (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input).href;
    if (asked !== new URL(tokenUrl).href) throw new TypeError('only the token endpoint is asked');
    return guarded(input, init);
  };
}
