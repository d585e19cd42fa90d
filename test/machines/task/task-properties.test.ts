import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskFact } from '../../../src/machines/domain/facts.ts';
import { isFinal } from '../../../src/machines/domain/task.ts';
import { TaskRun } from '../../helpers/run-task.ts';
import { runs } from '../../helpers/runs.ts';
import { aCall, anAttempt, said, times } from '../../helpers/task-fixtures.ts';
import { approvers, type Command, TaskStory } from '../../helpers/task-story.ts';

const goOn = fc.record<Command & { type: 'goOn' }>({
  type: fc.constant('goOn'),
  goesWell: fc.nat(39).map((luck) => luck > 0),
});

const decide = fc.record<Command & { type: 'decide' }>({
  type: fc.constant('decide'),
  verb: fc.nat(19).map((mood) => (mood > 0 ? 'approve' : 'reject')),
  email: fc.constantFrom(...approvers, ...approvers, 'eve@x.org', null),
  deferralId: fc.constantFrom(null, null, null, 'call-1-1', 'call-2-1'),
});

const restore = fc.record<Command & { type: 'restore' }>({
  type: fc.constant('restore'),
  isIdempotent: fc.boolean(),
});

const interrupt = fc.constantFrom<Command>(
  { type: 'task.cancel' },
  { type: 'caller.left' },
  { type: 'service.restarted' },
);

const timePasses = fc.constantFrom<Command>(
  { type: 'timePasses', by: 100_000 },
  { type: 'timePasses', by: 300_000 },
);

const command = fc.oneof(
  { weight: 30, arbitrary: goOn },
  { weight: 20, arbitrary: decide },
  { weight: 4, arbitrary: restore },
  { weight: 1, arbitrary: interrupt },
  { weight: 1, arbitrary: timePasses },
);

async function tell(quorum: number, commands: Command[]): Promise<TaskStory> {
  const story = new TaskStory(quorum);
  for (const given of commands) await story.live(given);
  return story;
}

const anyStory = fc.tuple(
  fc.integer({ min: 1, max: 2 }),
  fc.array(command, { minLength: 10, maxLength: 100, size: 'max' }),
);

function always(holds: (story: TaskStory) => void): Promise<void> {
  return fc.assert(
    fc.asyncProperty(anyStory, async ([quorum, commands]) => holds(await tell(quorum, commands))),
    { numRuns: runs(150) },
  );
}

/** Of the random stories so many got that far, or the property means nothing. */
const enough = runs(30);

function count(facts: TaskFact[], type: TaskFact['type']): number {
  return facts.filter((fact) => fact.type === type).length;
}

describe('after any events', () => {
  it('each deferral has at most one decision', async () => {
    let decided = 0;
    await always(({ answers, facts }) => {
      const resolved = answers.flatMap((answer) =>
        answer.kind === 'resolved' ? [answer.deferralId] : [],
      );
      expect(resolved).toEqual([...new Set(resolved)]);
      expect(resolved.length).toBeLessThanOrEqual(count(facts, 'deferral.opened'));
      decided += resolved.length;
    });
    expect(decided).toBeGreaterThan(enough);
  });

  it('each deferral ends at most once, and before the task ends', async () => {
    const seen = { resolved: 0, timedOut: 0, abandoned: 0 };
    await always(({ answers, facts, task }) => {
      const resolved = answers.filter(({ kind }) => kind === 'resolved').length;
      const timedOut = count(facts, 'deferral.timedOut');
      const abandoned = count(facts, 'deferral.abandoned');
      const pending = task.deferral === null ? 0 : 1;
      expect(resolved + timedOut + abandoned).toBe(count(facts, 'deferral.opened') - pending);
      seen.resolved += resolved;
      seen.timedOut += timedOut;
      seen.abandoned += abandoned;
    });
    expect(Object.values(seen).every((ends) => ends > 0)).toBe(true);
  });

  it('a tool runs only after its approval, with the approved digest', async () => {
    let runs = 0;
    await always(({ ran }) => {
      runs += ran.length;
      for (const { input, before } of ran) {
        const { call, approvedSha256 } = input;
        const opened = before.findLastIndex((fact) => fact.type === 'deferral.opened');
        expect(before[opened]).toMatchObject({ deferral: { id: call.id } });
        const approvals = before
          .slice(opened)
          .filter((fact) => fact.type === 'deferral.decided' && fact.decision === 'approve');
        expect(approvals).not.toEqual([]);
        expect(approvedSha256).toBe(call.argsSha256);
      }
    });
    expect(runs).toBeGreaterThan(enough);
  });

  it('a tool runs at most once, unless it is repeatable', async () => {
    let runs = 0;
    await always(({ ran, repeats }) => {
      const ids = ran.map(({ input }) => input.call.id);
      expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(repeats);
      runs += ran.length;
    });
    expect(runs).toBeGreaterThan(enough);
  });

  it('only listed approvers count', async () => {
    let counted = 0;
    await always(({ answers }) => {
      for (const answer of answers) {
        if (answer.kind !== 'resolved' && answer.kind !== 'recorded') continue;
        expect(approvers).toContain(answer.approver);
        counted += 1;
      }
    });
    expect(counted).toBeGreaterThan(enough);
  });

  it('every start of a tool has exactly one end', async () => {
    let started = 0;
    await always(({ facts, task }) => {
      started += count(facts, 'tool.started');
      let open = 0;
      for (const { type } of facts) {
        if (type === 'tool.started') open += 1;
        if (type === 'tool.ended') open -= 1;
        expect(open === 0 || open === 1).toBe(true);
      }
      if (isFinal(task.state)) expect(open).toBe(0);
    });
    expect(started).toBeGreaterThan(enough);
  });

  it('the session ends once, last, in the state of the task', async () => {
    let ended = 0;
    await always(({ facts, task }) => {
      expect(count(facts, 'session.ended')).toBe(isFinal(task.state) ? 1 : 0);
      if (!isFinal(task.state)) return;
      expect(facts.at(-1)).toEqual({ type: 'session.ended', state: task.state });
      ended += 1;
    });
    expect(ended).toBeGreaterThan(enough);
  });

  it('the task can be stored as plain JSON', () =>
    always(({ snapshot }) => {
      expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    }));
});

const say = fc.uuid().map<Command & { type: 'say' }>((text) => ({ type: 'say', text }));

/** Stories in which people also speak, whenever they like. */
const anyTalk = fc.tuple(
  fc.integer({ min: 1, max: 2 }),
  fc.array(fc.oneof({ weight: 3, arbitrary: command }, { weight: 1, arbitrary: say }), {
    minLength: 10,
    maxLength: 100,
    size: 'max',
  }),
);

describe('any message to a task', () => {
  it('decides nothing and does not change the outcome', () =>
    fc.assert(
      fc.asyncProperty(anyTalk, async ([quorum, commands]) => {
        const silent = commands.filter(({ type }) => type !== 'say');
        const [spoken, unspoken] = [await tell(quorum, commands), await tell(quorum, silent)];
        expect(spoken.answers).toEqual(unspoken.answers);
        expect(spoken.ran.map(({ input }) => input)).toEqual(
          unspoken.ran.map(({ input }) => input),
        );
        expect(outcome(spoken)).toEqual(outcome(unspoken));
      }),
      { numRuns: runs(100) },
    ));

  it('is stored in order, once, and read by the model at most once', async () => {
    const seen = { kept: 0, heard: 0, turned: 0 };
    await fc.assert(
      fc.asyncProperty(anyTalk, async ([quorum, commands]) => {
        const { kept, task, facts, thought } = await tell(quorum, commands);
        const [request, ...later] = task.history.filter(({ role }) => role === 'user');
        expect(request?.messageId).toBe('m-1');
        expect(later.map(({ messageId }) => messageId)).toEqual(kept);
        const heard = facts.flatMap((fact) => (fact.type === 'model.called' ? [fact.heard] : []));
        const told = heard.flatMap(({ followUps }) => followUps.map(({ messageId }) => messageId));
        expect(told).toEqual(kept.slice(0, told.length));
        if (task.state === 'completed') expect(told).toEqual(kept);
        for (const { followUps, exchanges } of thought) {
          expect(followUps.map(({ message }) => message.messageId)).toEqual(
            kept.slice(0, followUps.length),
          );
          for (const { after } of followUps) expect(after).toBeLessThanOrEqual(exchanges.length);
        }
        seen.kept += kept.length;
        seen.heard += told.length;
        seen.turned += commands.filter(({ type }) => type === 'say').length - kept.length;
      }),
      { numRuns: runs(150) },
    );
    expect(Object.values(seen).every((count) => count > enough)).toBe(true);
  });
});

function outcome({ task, facts }: TaskStory): object {
  const { state, text, failure, settled, deferral, answer, records, stage } = task;
  const told = facts.flatMap((fact) => (fact.type === 'message.received' ? [] : [fact.type]));
  return { state, text, failure, settled, deferral, answer, records: records.length, stage, told };
}

describe('a deferral with two concurrent deciders', () => {
  it('is decided by the first one, and the others receive that decision', async () => {
    const verbs = fc.array(fc.constantFrom('approve' as const, 'reject' as const), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(verbs, async (attempts) => {
        const run = new TaskRun();
        await run.finish('think', said('', [aCall()]));
        const [first] = attempts;
        for (const verb of attempts) {
          if (run.actor.getSnapshot().status === 'active') await run.decide(anAttempt({ verb }));
        }
        expect(run.task.settled).toMatchObject({ decision: first, decidedAt: times.decided });
        const told = first === 'approve' ? attempts.slice(1).map(() => 'decided') : [];
        expect(run.answers.map(({ kind }) => kind)).toEqual(['resolved', ...told]);
      }),
    );
  });
});
