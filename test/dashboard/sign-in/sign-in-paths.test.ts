import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { openSignIns } from '../../../src/dashboard/sign-in/sign-ins.ts';
import { signInMachine } from '../../../src/machines/sign-in/sign-in-machine.ts';
import { aServer } from '../../actors/outbound/egress/a-server.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';

/** A sign-in to a provider that exchanges a code when a test lets it. */
async function openSignIn(actors: readonly AnyActorRef[]) {
  const calls: { body: string; response: ServerResponse }[] = [];
  const { port } = await aServer(({ body }, response) => void calls.push({ body, response }));
  const issuer = `http://127.0.0.1:${port}`;
  const env = { SERVICE_OAUTH_CLIENT_ID: 'till', SERVICE_OAUTH_ISSUER: issuer };
  const clock = new ManualClock(0);
  const signIns = openSignIns(env, { clock, moved: () => undefined });
  onTestFinished(() => signIns.close());
  const { state } = await signIns.start('openai', `${issuer}/oauth/callback`);
  const isIn = (name: string) => actors.at(-1)?.getSnapshot().matches(name) === true;
  let outcome: Promise<string> | null = null;
  const isToldFailed = (error: string) =>
    expect(signIns.status(state)).toEqual({ status: 'failed', error });
  /** What the page reads that the browser was sent back to. */
  const isShown = async (expected: string) => {
    if (outcome !== null) expect(await outcome).toBe(expected);
    outcome = null;
  };
  const call = (parameters: object) =>
    signIns.callback(new URLSearchParams({ state, ...parameters }));
  return {
    comesBack: async () => {
      const isFirst = isIn('pending');
      const answer = call({ code: 'code-1' });
      if (!isFirst) return expect(await answer).toBe('refused');
      outcome = answer;
      await vi.waitFor(() => expect(calls).toHaveLength(1), patient);
      expect(calls[0]?.body).toContain('code=code-1');
    },
    isRefused: async (error: string, sentence: string) => {
      const isFirst = isIn('pending');
      expect(await call({ error })).toBe('refused');
      if (isFirst) isToldFailed(sentence);
    },
    exchange: async (status: number, shown: string) => {
      const answer = { access_token: 'token-1', token_type: 'Bearer' };
      const response = calls.splice(0)[0]?.response;
      response?.writeHead(status, { 'content-type': 'application/json' });
      response?.end(JSON.stringify(status === 200 ? answer : { error: 'invalid_grant' }));
      await isShown(shown);
      if (status === 200) expect(signIns.status(state)).toEqual({ status: 'done' });
      else isToldFailed('the provider gave no token for the code; sign in again');
    },
    expire: async () => {
      clock.advance(599_999);
      expect(signIns.status(state)).not.toMatchObject({ status: 'failed' });
      clock.advance(1);
      isToldFailed('the sign-in has expired; sign in again');
      await isShown('refused');
      expect(signIns.take(state, 'openai')).toBeNull();
    },
    callOff: async () => {
      const isTaken = isIn('taken');
      expect(signIns.cancel(state)).toBe(!isTaken);
      if (isTaken) return;
      await isShown('called_off');
      isToldFailed('it was called off');
      expect(await call({ code: 'code-2' })).toBe('called_off');
    },
    take: () => {
      const token = isIn('done') ? 'token-1' : null;
      expect(signIns.take(state, 'openai')).toBe(token);
    },
    giveBack: () => signIns.giveBack(state),
  };
}

const isExchanging = (snapshot: AnyMachineSnapshot) => snapshot.matches('exchanging');

const happenings: Happenings<Awaited<ReturnType<typeof openSignIn>>> = {
  'a code comes back': {
    event: { type: 'callback.code', parameters: 'code=code-1' },
    happen: (signIn) => signIn.comesBack(),
  },
  'the person refuses': {
    event: { type: 'callback.refused', error: 'access_denied' },
    happen: (signIn) =>
      signIn.isRefused('access_denied', 'the provider was not allowed to sign you in'),
  },
  'the provider refuses': {
    event: { type: 'callback.refused', error: 'server_error' },
    happen: (signIn) =>
      signIn.isRefused('server_error', 'the provider refused the sign-in; sign in again'),
  },
  'the provider gives a token': {
    event: { type: 'xstate.done.actor.0.sign-in.exchanging' },
    in: isExchanging,
    happen: (signIn) => signIn.exchange(200, 'signed_in'),
  },
  'the provider gives none': {
    event: { type: 'xstate.error.actor.0.sign-in.exchanging', error: new Error('it') },
    in: isExchanging,
    happen: (signIn) => signIn.exchange(400, 'refused'),
  },
  'ten minutes pass': {
    event: ({ value }) => ({ type: `xstate.after.lifetime.sign-in.${String(value)}` }),
    happen: (signIn) => signIn.expire(),
  },
  'it is called off': { event: { type: 'sign-in.cancel' }, happen: (signIn) => signIn.callOff() },
  'an agent takes the token': { event: { type: 'token.take' }, happen: (signIn) => signIn.take() },
  'the agent is not made': {
    event: { type: 'token.return' },
    happen: (signIn) => signIn.giveBack(),
  },
};

describe('the shortest paths of a sign-in with a provider', () => {
  walkChart(signInMachine, happenings, openSignIn);
});
