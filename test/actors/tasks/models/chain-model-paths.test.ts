import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { createModel } from '../../../../src/actors/tasks/models/create-model.ts';
import type { CallFault } from '../../../../src/machines/domain/call-fault.ts';
import {
  type FallbackContext,
  fallbackMachine,
} from '../../../../src/machines/models/fallback-machine.ts';
import { cooldownOf } from '../../../../src/machines/models/model-call.ts';
import { type Happenings, walkChart } from '../../../helpers/chart-walk.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { conversationOf } from '../../../helpers/model-conversation.ts';
import { beginChat, endChat, startRawModel } from '../../../helpers/model-server.ts';
import { passPause } from '../../../helpers/pass-pause.ts';
import { patient } from '../../../helpers/patient.ts';

const names = ['first', 'second'];
const timeout = 10_000;

/** A turn of a chain of two models that answer when a test lets them. */
async function openTurn(actors: readonly AnyActorRef[]) {
  const clock = new ManualClock(0);
  const calls: ServerResponse[] = [];
  const url = await startRawModel((response) => void calls.push(response));
  const choice = (name: string) => ({
    provider: 'openai-compatible' as const,
    ...{ name, base_url: `${url}/v1`, organization_id: '' },
  });
  const model = createModel(
    { ...choice('first'), fallbacks: [choice('second')], timeout, stream_interval: 0, script: [] },
    { env: {}, clock, fetch, tools: () => [], instructions: () => null },
  );
  const told: string[] = [];
  const shown: string[] = [];
  const leaving = new AbortController();
  const turn = model.next(conversationOf('go'), {
    signal: leaving.signal,
    onToken: (text) => void shown.push(text),
    onFailedCall: (call) => void told.push(call.model),
  });
  const ended = turn.then(
    ({ by }) => told.push(`${by?.model} answered`),
    () => told.push('failed'),
  );
  onTestFinished(async () => {
    leaving.abort();
    await ended;
  });
  const call = () => vi.waitUntil(() => calls.shift(), { ...patient, interval: 3 });
  return { actors, clock, call, told, shown };
}

type World = Awaited<ReturnType<typeof openTurn>>;

const isAsking = (snapshot: AnyMachineSnapshot) => snapshot.matches('asking');

const answered =
  (output: (context: FallbackContext) => object) => (snapshot: AnyMachineSnapshot) => ({
    type: 'xstate.done.actor.0.fallback.asking',
    output: output(snapshot.context as FallbackContext),
  });

/** A call that failed, after so many milliseconds. */
function failed(
  fault: CallFault,
  { retryAfter = null as number | null, hasSpoken = false, after = 0 } = {},
) {
  return answered(({ candidates, current, now }) => {
    const at = now + after;
    const cooldown = cooldownOf((candidates[current]?.tries ?? 0) + 1, retryAfter);
    const readyAt = fault === 'refused' ? at : at + cooldown;
    const failure = { provider: 'it', model: 'it', fault, text: 'it', hasSpoken, at, readyAt };
    return { kind: 'failed', failure };
  });
}

const happenings: Happenings<World> = {
  'the model answers': {
    event: answered(() => ({ kind: 'answered' })),
    in: isAsking,
    async happen({ call }) {
      const response = await call();
      beginChat(response, 'done');
      endChat(response);
    },
  },
  'the model is overloaded': {
    event: failed('broken'),
    in: isAsking,
    happen: async ({ call }) => void (await call()).writeHead(503).end(),
  },
  'the model asks for a minute': {
    event: failed('busy', { retryAfter: 60_000 }),
    in: isAsking,
    happen: async ({ call }) => void (await call()).writeHead(429, { 'retry-after': '60' }).end(),
  },
  'the model hangs up': {
    event: failed('unreachable'),
    in: isAsking,
    happen: async ({ call }) => void (await call()).destroy(),
  },
  'the model refuses the key': {
    event: failed('refused'),
    in: isAsking,
    happen: async ({ call }) => void (await call()).writeHead(401).end(),
  },
  'the model breaks off after its first words': {
    event: failed('unreachable', { hasSpoken: true }),
    in: isAsking,
    async happen({ call, shown }) {
      const response = await call();
      beginChat(response, 'half');
      await vi.waitFor(() => expect(shown).toEqual(['half']), patient);
      response.destroy();
    },
  },
  'the model is too slow': {
    event: failed('late', { after: timeout }),
    in: (snapshot) => isAsking(snapshot) && snapshot.context.failures.length === 0,
    async happen({ call, clock }) {
      await call();
      clock.advance(timeout);
    },
  },
  'the pause ends': {
    event: { type: 'xstate.after.untilReady.fallback.waiting' },
    in: (snapshot) => snapshot.matches('waiting'),
    happen: ({ clock, actors }) => passPause(clock, actors),
  },
};

/** The failures are reported in the order of the calls, and then the end of the turn. */
function look({ actors, told }: World): void {
  const { value, context } = actors.at(-1)?.getSnapshot() ?? {};
  const { failures, answeredBy } = context as FallbackContext;
  const end = { answered: `${names[answeredBy ?? -1]} answered`, failed: 'failed' }[
    value as string
  ];
  expect(told).toEqual([
    ...failures.map(({ model }) => model),
    ...(end === undefined ? [] : [end]),
  ]);
}

describe('the shortest paths of a turn with two models', () => {
  const candidates = names.map((model) => ({ provider: 'openai-compatible', model, readyAt: 0 }));
  walkChart(fallbackMachine, happenings, openTurn, {
    input: { candidates, now: 0 },
    fingerprint: ({ context: { candidates, current, now, giveUpAt } }) => [
      ...[current, giveUpAt - now],
      ...(candidates as FallbackContext['candidates']).map(({ tries, readyAt }) => [
        tries,
        readyAt - now,
      ]),
    ],
    look,
  });
});
