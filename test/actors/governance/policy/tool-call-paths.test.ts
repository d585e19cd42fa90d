import type { ServerResponse } from 'node:http';
import { describe, expect, vi } from 'vitest';
import { type AnyActorRef, type AnyMachineSnapshot, assign, createActor } from 'xstate';
import {
  createEmbedder,
  createIntentScorer,
} from '../../../../src/actors/governance/alignment/alignment.ts';
import { createCredentialIssuer } from '../../../../src/actors/governance/credentials/credentials.ts';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../../../../src/actors/governance/modify/modify.ts';
import { createGovern } from '../../../../src/actors/governance/policy/govern.ts';
import { createPolicy } from '../../../../src/actors/governance/policy/policy.ts';
import { securitySchema } from '../../../../src/actors/governance/settings/schema-security.ts';
import { randomIds } from '../../../../src/actors/random-ids.ts';
import type { IntentVerdict, Ruling } from '../../../../src/machines/governance/ruling.ts';
import { toolCallMachine } from '../../../../src/machines/governance/tool-call-machine.ts';
import type { ToolCallInput } from '../../../../src/machines/governance/tool-call-setup.ts';
import { type Happenings, walkChart } from '../../../helpers/chart-walk.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { prompt } from '../../../helpers/patient.ts';
import * as fixture from '../../../helpers/task-fixtures.ts';
import { startServer, vectorsBody } from '../alignment/embedding-server.ts';
import { type Asked, hopeless, security, sensible, tools } from './some-calls.ts';

function inputOf({ tool, args = {}, fault, acr }: Asked): ToolCallInput {
  return {
    taskId: 'task-1',
    call: fixture.aCall({ tool, args, ...(fault === undefined ? {} : { fault }) }),
    request: fixture.aTaskInput().request,
    requester: fixture.aCaller(acr === undefined ? {} : { acr }),
    scores: [],
    now: 0,
  };
}

/** A call before the layers of a configuration, whose embedder answers when a test lets it. */
async function openCall(actors: readonly AnyActorRef[], asked: Asked, alignment: object | null) {
  const calls: ServerResponse[] = [];
  const { address } = await startServer((_, response) => void calls.push(response));
  const clock = new ManualClock(0);
  const quiet = () => undefined;
  const world = { isLogBroken: false, clock, calls, actors };
  const log = {
    ...{ info: quiet, warn: quiet },
    error: () => {
      if (world.isLogBroken) throw new Error('the log is full');
    },
  };
  const settings = securitySchema.parse({
    ...security,
    ...(alignment && { intent_alignment: { ...alignment, base_url: `${address}/v1` } }),
  });
  const guardrails = compileGuardrails(settings.guardrails);
  const modify = compileModify(settings.modify);
  if (!guardrails.ok || !modify.ok) throw new Error('the rules of this test do not compile');
  const spec = { env: { KEY: { from_env: 'SHOP_KEY' } } };
  const env = { SHOP_KEY: 'canary-of-the-shop' };
  const policy = createPolicy({
    ...{ security: settings, isAuthOn: false, tools, scrub: (text: string) => text },
    ...{ guardrails: guardrails.guardrails, modify: modify.modify },
    credentials: createCredentialIssuer([{ tool: 'fetch', provider: 'static', spec }], {
      ...{ env, clock, log },
    }),
  });
  const scorer =
    alignment &&
    createIntentScorer({
      embedder: createEmbedder(settings.intent_alignment, { env, clock }),
      thresholds: { threshold: 0.5, hardThreshold: 0.3 },
      log,
    });
  const govern = createGovern({ policy, scorer, tools, ids: randomIds(), log });
  createActor(govern, { input: inputOf(asked) }).start();
  return world;
}

type World = Awaited<ReturnType<typeof openCall>>;

/** What would run is digested at once. */
const digested = {
  type: 'xstate.done.actor.0.toolCall.identifying',
  output: fixture.runsDigest,
};

/** What the embedder makes of the call, and what comes of it. */
const compared = (verdict: IntentVerdict, answer: Answer) => ({
  event: ({ context }: AnyMachineSnapshot) => {
    const output = { ...verdict, took: 0 };
    const judged = { type: 'xstate.done.actor.0.toolCall.judgingIntent', output };
    const isHeld = verdict.decision !== 'deny' && context.rules.defer !== null;
    return isHeld ? [judged, digested] : judged;
  },
  in: isCompared,
  happen: async (world: World) => {
    await vi.waitFor(() => expect(world.calls).toHaveLength(1), prompt);
    for (const response of world.calls.splice(0)) answer(response, world);
  },
});
type Answer = (response: ServerResponse, world: World) => void;
const isCompared = (snapshot: AnyMachineSnapshot) => snapshot.matches('judgingIntent');
const vectors =
  (...them: number[][]): Answer =>
  (response) =>
    response.setHeader('content-type', 'application/json').end(vectorsBody(them));
const unavailable = { decision: 'deny', score: null, reason: 'embedder unavailable' } as const;
const refused: Answer = (response) => response.writeHead(400).end();

const happenings: Happenings<World> = {
  'it fits': compared({ decision: 'allow', score: 1, reason: 'fits' }, vectors([1, 0], [1, 0])),
  'it fits badly': compared(
    { decision: 'warn', score: 0.4, reason: 'fits' },
    vectors([1, 0], [0.4, Math.sqrt(0.84)]),
  ),
  'it does not fit': compared(
    { decision: 'deny', score: 0, reason: 'score 0.00 is below the hard threshold 0.30' },
    vectors([1, 0], [0, 1]),
  ),
  'the embedder answers nonsense': compared(unavailable, vectors([1, 0])),
  'the embedder refuses': compared(unavailable, refused),
  'the embedder does not answer': compared(unavailable, (_, { clock }) => clock.advance(5_000)),
  'the embedder refuses and the log takes nothing': {
    ...compared(unavailable, (response, world) => {
      world.isLogBroken = true;
      refused(response, world);
    }),
    event: { type: 'xstate.error.actor.0.toolCall.judgingIntent', error: new Error('it') },
  },
  'what would run is digested': {
    event: digested,
    in: (snapshot: AnyMachineSnapshot) => snapshot.matches('identifying'),
    happen: ({ actors }) =>
      vi.waitFor(() => expect(actors.at(-1)?.getSnapshot().status).toBe('done'), prompt),
  },
};

/** The ruling as far as it is one of the chart, with its words. */
const briefly = ({ kind, records, score, ...more }: Ruling) => ({
  kind,
  text: 'text' in more ? more.text : null,
  records: records.map(({ layer, decision }) => [layer, decision]),
  score: score === null ? null : Number(score.toFixed(3)),
});

/**
 * Walks the chart with one call before a configuration with or without intent alignment. Nothing is remembered and no limit
 * applies, so neither grants nor the ledger are asked.
 */
function walk(asked: Asked, alignment: object | null, passing: readonly string[]): void {
  const { rules = {}, modification = { kind: 'unchanged' } } = asked;
  const said = { ...fixture.toolRules(rules), judgesIntent: alignment !== null, took: 0 };
  walkChart(toolCallMachine, happenings, (actors) => openCall(actors, asked, alignment), {
    filled: toolCallMachine.provide({
      actions: {
        consultPolicy: assign({ rules: said }),
        modifyCall: assign({ modification: { ...modification, took: 0 } }),
      },
    }),
    input: inputOf(asked),
    passing: [...passing, 'redeeming', 'measuring', 'reserving'],
    look: ({ actors }, snapshot) => {
      if (snapshot.output === undefined) return;
      const ruling: Ruling = actors.at(-1)?.getSnapshot().output;
      expect(briefly(ruling)).toEqual(briefly(snapshot.output));
    },
  });
}

const passing = ['modifying', 'identifying'];
const alignment = { enabled: true, provider: 'openai-compatible' };

describe.each(Object.entries(sensible))('the shortest paths of a call %s', (_, asked) => {
  walk(asked, alignment, ['recalling', ...passing]);
});

describe.each(Object.entries(sensible))('without a comparison, a call %s', (_, asked) => {
  const isHeld = (asked.rules?.defer ?? null) !== null;
  walk(asked, null, ['recalling', 'judgingIntent', ...(isHeld ? ['modifying'] : passing)]);
});

describe.each(Object.entries(hopeless))('the shortest paths of a call %s', (_, asked) => {
  walk(asked, alignment, ['recalling', 'judgingIntent', ...passing]);
});
