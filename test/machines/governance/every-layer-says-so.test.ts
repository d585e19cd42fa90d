import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, raise, toPromise } from 'xstate';
import { createGovern } from '../../../src/actors/governance/policy/govern.ts';
import type { Tool } from '../../../src/actors/ports/tool.ts';
import { randomIds } from '../../../src/actors/random-ids.ts';
import type { DecisionRecord, ToolCall } from '../../../src/machines/domain/task.ts';
import type { IntentVerdict, Ruling, ToolRules } from '../../../src/machines/governance/ruling.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { aPolicy } from '../../helpers/a-policy.ts';
import { runs } from '../../helpers/runs.ts';
import { toolCalled } from '../../helpers/system-story.ts';
import {
  aCall,
  aCaller,
  aDeferRule,
  anAttempt,
  aRefusal,
  aTaskInput,
  minted,
  returned,
  said,
  saved,
  times,
  toolFailed,
  toolRules,
  withheld,
} from '../../helpers/task-fixtures.ts';

/** What every layer has to say of one call. */
interface Opinions {
  policy: 'silent' | 'refuses' | 'breaks';
  intent: 'off' | IntentVerdict['decision'] | 'breaks';
  assurance: 'any' | 'met' | 'unmet';
  modify: 'unchanged' | 'modified' | 'refused' | 'breaks';
  defer: 'none' | 'approve' | 'reject' | 'tell' | 'silence' | 'cancel' | 'leave';
  credentials: 'none' | 'issued' | 'failed';
  output: 'returned' | 'failed' | 'withheld';
}

/** Mostly agreeing, so that the later layers are heard too. */
function mostly<Opinion>(agreeing: Opinion[], objecting: Opinion[]): fc.Arbitrary<Opinion> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...agreeing) },
    { weight: 1, arbitrary: fc.constantFrom(...objecting) },
  );
}

const opinions: fc.Arbitrary<Opinions> = fc.record({
  policy: mostly<Opinions['policy']>(['silent'], ['refuses', 'breaks']),
  intent: mostly<Opinions['intent']>(['off', 'allow', 'warn'], ['deny', 'breaks']),
  assurance: mostly<Opinions['assurance']>(['any', 'met'], ['unmet']),
  modify: mostly<Opinions['modify']>(['unchanged', 'modified'], ['refused', 'breaks']),
  defer: mostly<Opinions['defer']>(
    ['none', 'approve', 'tell'],
    ['reject', 'silence', 'cancel', 'leave'],
  ),
  credentials: mostly<Opinions['credentials']>(['none', 'issued'], ['failed']),
  output: mostly<Opinions['output']>(['returned'], ['failed', 'withheld']),
});

/** Connects the ports of the tool-call chart to the opinions on each call; `asked` receives the ports that are called. */
function governWith(opinionsOn: (call: ToolCall) => Opinions, asked: (port: string) => void) {
  const ofCall = new Map<string, Opinions>();
  const tools = new Map<string, Tool>();
  const policy = aPolicy({
    rulesFor(call) {
      const opinion = opinionsOn(call);
      ofCall.set(call.tool, opinion);
      tools.set(call.tool, toolCalled(call.tool));
      asked('policy');
      if (opinion.policy === 'breaks') throw new Error('the policy broke');
      return rulesOf(opinion);
    },
    deferRuleOf: ({ tool }) => {
      const opinion = ofCall.get(tool);
      return { rule: opinion === undefined ? null : rulesOf(opinion).defer, name: null };
    },
    modify(call) {
      asked('modify');
      const { modify } = opinionsOn(call);
      if (modify === 'breaks') throw new Error('MODIFY broke');
      if (modify === 'refused') return { kind: 'refused', refusal: aRefusal() };
      if (modify === 'unchanged') return { kind: 'unchanged' };
      return { kind: 'modified', call: { ...call, args: { order: 8 } }, rules: [1], changes: [] };
    },
  });
  const scorer = async ({ tool }: { tool: string }): Promise<IntentVerdict> => {
    asked('scorer');
    const decision = ofCall.get(tool)?.intent;
    if (decision === 'breaks' || decision === 'off' || decision === undefined) {
      throw new Error('the scorer broke');
    }
    return { decision, score: 0.5, reason: 'as the test says' };
  };
  const silent = () => undefined;
  const log = { info: silent, warn: silent, error: silent };
  return createGovern({ policy, scorer, tools, ids: randomIds(), log });
}

function rulesOf({ policy, intent, assurance, defer, credentials }: Opinions): ToolRules {
  return toolRules({
    refusal: policy === 'refuses' ? aRefusal() : null,
    judgesIntent: intent !== 'off',
    requiredAcr: { any: null, met: 'gold', unmet: 'platinum' }[assurance],
    defer:
      defer === 'none' ? null : aDeferRule({ onReject: defer === 'tell' ? 'tool_result' : 'fail' }),
    credential: credentials === 'none' ? null : 'static',
  });
}

/** What the layers before the execution come to, worked out without the chart. */
function expectedSayings(
  opinion: Opinions,
): [DecisionRecord['layer'], DecisionRecord['decision']][] {
  const isModified = opinion.modify === 'modified';
  const sayings: ReturnType<typeof expectedSayings> = [
    ['alignment', isDenied(opinion) ? 'deny' : 'allow'],
    ['assurance', opinion.assurance === 'unmet' ? 'step_up' : 'allow'],
    ['modify', opinion.modify === 'unchanged' ? 'allow' : isModified ? 'modify' : 'deny'],
    ['defer', opinion.defer === 'none' ? 'allow' : 'defer'],
  ];
  const last = sayings.findIndex(([, decision]) => decision === 'deny' || decision === 'step_up');
  return last === -1 ? sayings : sayings.slice(0, last + 1);
}

function isDenied({ policy, intent }: Opinions): boolean {
  return policy !== 'silent' || intent === 'deny' || intent === 'breaks';
}

/** The ports that may be asked before the ruling. */
function expectedAsked(opinion: Opinions): string[] {
  const { length } = expectedSayings(opinion);
  const isJudged = opinion.policy === 'silent' && opinion.intent !== 'off';
  return ['policy', ...(isJudged ? ['scorer'] : []), ...(length > 2 ? ['modify'] : [])];
}

async function rule(opinion: Opinions): Promise<{ ruling: Ruling; asked: string[] }> {
  const asked: string[] = [];
  const logic = governWith(
    () => opinion,
    (port) => asked.push(port),
  );
  const input = {
    taskId: 'task-1',
    call: aCall(),
    request: aTaskInput().request,
    requester: aCaller({ acr: 'gold' }),
    scores: [],
    now: times.thought,
  };
  return { ruling: await toPromise(createActor(logic, { input }).start()), asked };
}

describe('for any answers of the layers about one call', () => {
  it('the answers are recorded in order up to the first objection, and no later layer is asked', () =>
    fc.assert(
      fc.asyncProperty(opinions, async (opinion) => {
        const { ruling, asked } = await rule(opinion);
        const sayings = expectedSayings(opinion);
        expect(ruling.records.map(({ layer, decision }) => [layer, decision])).toEqual(sayings);
        expect(asked).toEqual(expectedAsked(opinion));
        const [, last] = sayings.at(-1) ?? [];
        expect(ruling.kind).toBe(last === 'step_up' ? 'stepUp' : last);
      }),
      { numRuns: runs(300) },
    ));
});

/** One port that was asked, with all that had been recorded by then. */
interface Asked {
  port: string;
  call: ToolCall | null;
  records: DecisionRecord[];
}

/** What came of a task. */
interface Life {
  asked: Asked[];
  /** Ids of the calls that were approved, and of those that were not. */
  approved: Set<string>;
  refused: Set<string>;
  records: DecisionRecord[];
}

/** Lets a task with one call a turn live to its end. */
async function live(isPromptRefused: boolean, plan: Opinions[]): Promise<Life> {
  const life: Life = { asked: [], approved: new Set(), refused: new Set(), records: [] };
  const calls = plan.map((_, index) => aCall({ id: `call-${index}`, tool: `tool-${index}` }));
  const opinionsOn = ({ id }: ToolCall) => plan[Number(id.slice('call-'.length))]!;
  const recordsNow = () => actor.getSnapshot().context.records;
  const note = (port: string, call: ToolCall | null = null) =>
    void life.asked.push({ port, call, records: recordsNow() });
  const logic = taskMachine.provide({
    actors: {
      think: fromPromise(async ({ input }) => {
        await Promise.resolve();
        note('think');
        return said('done', calls.slice(input.turns, input.turns + 1));
      }),
      govern: governWith(opinionsOn, (port) => note(port)),
      mint: fromPromise(async ({ input: { call } }) => {
        await Promise.resolve();
        note('mint', call);
        return minted(opinionsOn(call).credentials === 'failed' ? 'no key' : null);
      }),
      runTool: fromPromise(async ({ input: { call } }) => {
        await Promise.resolve();
        note('runTool', call);
        const { output } = opinionsOn(call);
        if (output === 'returned') return returned('done');
        return output === 'failed' ? toolFailed('no') : withheld('no');
      }),
    },
    actions: {
      screenPrompt: raise({
        type: 'prompt.screened',
        refusal: isPromptRefused ? aRefusal() : null,
        took: 1,
      }),
    },
  });
  const input = aTaskInput({ requester: aCaller({ acr: 'gold' }) });
  const actor = createActor(logic, { input });
  actor.subscribe((snapshot) => {
    const [call] = snapshot.context.pending;
    if (snapshot.hasTag('saving')) {
      if (snapshot.context.startedAt !== null) note('start', call);
      queueMicrotask(() => actor.send(saved()));
    }
    if (!snapshot.hasTag('deferred') || call === undefined) return;
    const event = endOfWait(opinionsOn(call).defer);
    const isApproval = event.type === 'deferral.decide' && event.attempt.verb === 'approve';
    (isApproval ? life.approved : life.refused).add(call.id);
    queueMicrotask(() => actor.send(event));
  });
  const ended = toPromise(actor);
  actor.start();
  await ended;
  return { ...life, records: recordsNow() };
}

/** What ends the wait of a call. */
function endOfWait(defer: Opinions['defer']) {
  const at = times.decided;
  if (defer === 'cancel') return { type: 'task.cancel', reason: 'timeout', at } as const;
  if (defer === 'leave') return { type: 'caller.left', at } as const;
  if (defer === 'silence') return { type: 'deadline.reached', at: times.expired } as const;
  const verb = defer === 'approve' ? 'approve' : 'reject';
  return { type: 'deferral.decide', attempt: anAttempt({ verb }) } as const;
}

const anyTask = fc.tuple(
  fc.nat(19).map((luck) => luck === 0),
  fc.array(opinions, { minLength: 1, maxLength: 4 }),
);

function always(holds: (life: Life, plan: Opinions[]) => void): Promise<void> {
  return fc.assert(
    fc.asyncProperty(anyTask, async ([isPromptRefused, plan]) =>
      holds(await live(isPromptRefused, plan), plan),
    ),
    { numRuns: runs(250) },
  );
}

const order = ['alignment', 'assurance', 'modify', 'defer', 'credentials'];

describe('for any answers of the layers about the calls of a task', () => {
  it('a tool runs only when every layer has allowed its call, in order', async () => {
    let ran = 0;
    await always(({ asked, approved }, plan) => {
      for (const { call, records } of asked.filter(({ port }) => port === 'runTool')) {
        ran += 1;
        const ofCall = records.filter(({ callId }) => callId === call?.id);
        const { credentials } = plan[Number(call?.id.slice(5))]!;
        expect(ofCall.map(({ layer }) => layer)).toEqual(
          credentials === 'none' ? order.slice(0, -1) : order,
        );
        for (const { layer, decision } of ofCall) {
          const isReleased = layer === 'defer' && decision === 'defer' && approved.has(call!.id);
          const isLetGo =
            decision === 'allow' || (layer === 'modify' && decision === 'modify') || isReleased;
          expect(isLetGo).toBe(true);
        }
      }
    });
    // Enough of the random calls got through for the property to mean something.
    expect(ran).toBeGreaterThan(runs(10));
  });

  it('a tool receives the arguments that MODIFY returned', async () => {
    let modified = 0;
    await always(({ asked }, plan) => {
      for (const { call } of asked.filter(({ port }) => port === 'runTool')) {
        const { modify } = plan[Number(call?.id.slice(5))]!;
        expect(call?.args).toEqual({ order: modify === 'modified' ? 8 : 7 });
        if (modify === 'modified') modified += 1;
      }
    });
    expect(modified).toBeGreaterThan(runs(5));
  });

  it('no layer is asked after a denial or a challenge', async () => {
    const seen = { deny: 0, step_up: 0 };
    await always(({ asked, records }) => {
      const last = records.findIndex(
        ({ decision }) => decision === 'deny' || decision === 'step_up',
      );
      if (last === -1) return;
      expect(records.slice(last + 1)).toEqual([]);
      for (const one of asked) {
        expect(one.records.some(({ decision }) => decision === 'deny')).toBe(false);
        expect(one.records.some(({ decision }) => decision === 'step_up')).toBe(false);
      }
      seen[records[last]?.decision === 'deny' ? 'deny' : 'step_up'] += 1;
    });
    expect(Math.min(seen.deny, seen.step_up)).toBeGreaterThan(runs(5));
  });

  it('an unapproved call neither receives credentials nor starts', async () => {
    let unapproved = 0;
    await always(({ asked, refused }) => {
      const touched = asked.flatMap(({ call }) => (call === null ? [] : [call.id]));
      expect(touched.filter((id) => refused.has(id))).toEqual([]);
      unapproved += refused.size;
    });
    expect(unapproved).toBeGreaterThan(runs(5));
  });

  it('a refused message asks no layer', () =>
    fc.assert(
      fc.asyncProperty(fc.array(opinions, { minLength: 1, maxLength: 3 }), async (plan) => {
        const { asked, records } = await live(true, plan);
        expect(asked).toEqual([]);
        expect(records.map(({ layer, decision }) => [layer, decision])).toEqual([
          ['prompt', 'deny'],
        ]);
      }),
      { numRuns: runs(30) },
    ));
});
