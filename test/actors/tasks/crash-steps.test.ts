import { describe, expect, it, onTestFinished } from 'vitest';
import type { CredentialIssuer } from '../../../src/actors/governance/credentials/credentials.ts';
import { failingDisk } from '../../helpers/failing-disk.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  payment,
  toolCalled,
  turn,
} from '../../helpers/system-story.ts';
import {
  copyFiles,
  nine,
  openSystem,
  type TestSystem,
  type TestSystemOptions,
} from '../../helpers/test-system.ts';
import { hearDisk } from '../records/sqlite/disk-steps.ts';

const unknown = 'interrupted by service restart: pay had started and its outcome is unknown';
const done = 'done: pay ok';

/** Makes credentials for `pay` that hold nothing, and counts them. */
function countingIssuer(): { issuer: CredentialIssuer; issued: string[] } {
  const issued: string[] = [];
  const issuer: CredentialIssuer = {
    providerOf: () => 'static',
    issue: async ({ callId }) => {
      issued.push(callId);
      return {
        provider: 'static',
        ttl: null,
        env: () => ({}),
        secretValues: () => [],
        revoke: () => undefined,
      };
    },
  };
  return { issuer, issued };
}

/** A store whose commits are held back until they are let through. */
function slowStore({ store }: TestSystem): { commit: () => void; hold: () => void } {
  const flush = store.flush.bind(store);
  let isHeld = false;
  store.flush = async () => (isHeld ? null : flush());
  return {
    hold: () => {
      isHeld = true;
    },
    commit: () => {
      isHeld = false;
      void flush();
    },
  };
}

/** The state of a task when the daemon was killed. */
interface Kill {
  at: string;
  directory: string;
  /** How often the tool had begun by then. */
  runs: number;
}

interface Told {
  taskId: string;
  kills: Kill[];
}

/** Plays a payment that is released, and keeps the files at every step of the call: queued, on disk, under way. */
async function killsOfPayment(options: TestSystemOptions, idempotent: boolean): Promise<Told> {
  const kills: Kill[] = [];
  let copy = (_at: string): void => undefined;
  const pay = toolCalled(
    'pay',
    async () => {
      copy('tool running');
      await turn();
      copy('tool about to return');
      return 'pay ok';
    },
    { idempotent },
  );
  const rig = await openSystem({ tools: [pay], deferred: { pay: { timeout: '5m' } }, ...options });
  copy = (at) => {
    kills.push({ at, directory: copyFiles(rig.directory), runs: pay.runs.length });
  };
  const { id: taskId } = await parks(rig.system);
  const save = rig.store.save.bind(rig.store);
  rig.store.save = (id, collect) => {
    copy('queued');
    return save(id, collect);
  };
  const flush = rig.store.flush.bind(rig.store);
  rig.store.flush = () => {
    const failure = flush();
    copy('on disk');
    return failure;
  };
  const restore = hearDisk(({ name }) => name === 'COMMIT' && copy('committing'));
  try {
    const deciding = rig.system.decide(taskId, decision('approve', rig.clock.now()));
    copy('decided, not on disk');
    expect((await deciding).kind).toBe('resolved');
    await ends(rig.system, taskId);
  } finally {
    restore();
    await rig.stop();
  }
  return { taskId, kills };
}

/** The steps of a call at which a kill may happen: its state, what the disk had of it, how often its tool had begun. */
type Step = [at: string, onDisk: string, runs: number];

const steps: Step[] = [
  ['decided, not on disk', 'task_deferred', 0],
  ['queued', 'task_deferred', 0],
  ['committing', 'task_deferred', 0],
  ['on disk', 'tool_exec start', 0],
  ['tool running', 'tool_exec start', 1],
  ['tool about to return', 'tool_exec start', 1],
  ['queued', 'tool_exec start', 1],
  ['committing', 'tool_exec start', 1],
  ['on disk', 'tool_exec end', 1],
  ['on disk', 'session_end completed', 1],
];

/** The outcome of the task after the restart, by what the disk had of it, and how often its tool begins then. */
const outcomes = (idempotent: boolean): Record<string, [text: string, runs: number]> => ({
  task_deferred: [done, 1],
  'tool_exec start': idempotent ? [done, 1] : [unknown, 0],
  'tool_exec end': [done, 0],
  'session_end completed': [done, 0],
});

describe.each([
  { idempotent: false, hasCredential: false },
  { idempotent: true, hasCredential: false },
  { idempotent: false, hasCredential: true },
  { idempotent: true, hasCredential: true },
])(
  'a kill at any step of a released call (idempotent: $idempotent, credentials: $hasCredential)',
  ({ idempotent, hasCredential }) => {
    it('never runs it twice, and ends it once', async () => {
      const options = () => (hasCredential ? { issuer: countingIssuer().issuer } : {});
      const { taskId, kills } = await killsOfPayment(options(), idempotent);
      const seen = new Set<string>();
      for (const { at, directory, runs } of kills) {
        const pay = toolCalled('pay', undefined, { idempotent });
        const { issuer, issued } = countingIssuer();
        const rig = await openSystem({
          directory: copyFiles(directory),
          clock: new ManualClock(nine + 1_000),
          tools: [pay],
          deferred: { pay: { timeout: '5m' } },
          ...(hasCredential ? { issuer } : {}),
          isStarted: false,
        });
        // What was written for a commit that never came is gone once the store is open.
        const last = briefly(rig.events(taskId)).at(-1) ?? '';
        seen.add(JSON.stringify([at, last, runs]));
        await rig.system.start();
        if ((await rig.system.reads.find(taskId))?.state === 'deferred') {
          const answer = await rig.system.decide(taskId, decision('approve', rig.clock.now()));
          expect(answer.kind).toBe('resolved');
        }
        const { text } = await ends(rig.system, taskId);
        expect([at, last, text, pay.runs.length]).toEqual([
          at,
          last,
          ...(outcomes(idempotent)[last] ?? []),
        ]);
        expect(issued).toHaveLength(hasCredential ? pay.runs.length : 0);
        const events = briefly(rig.events(taskId));
        for (const once of ['task_deferred_decision approve', 'tool_exec start', 'tool_exec end']) {
          expect([once, events.filter((event) => event === once).length]).toEqual([once, 1]);
        }
        expect(events.filter((event) => event.startsWith('session_end'))).toHaveLength(1);
        expect(await rig.verify()).toMatchObject({ ok: true });
        await rig.stop();
      }
      for (const step of hasCredential ? [] : steps) expect(seen).toContain(JSON.stringify(step));
    }, 60_000);
  },
);

describe('a slow store', () => {
  it('delays the start of a tool until that start is stored', async () => {
    const pay = toolCalled('pay');
    const rig = await openSystem({ tools: [pay], deferred: { pay: {} } });
    const { id } = await parks(rig.system);
    const store = slowStore(rig);
    store.hold();
    const deciding = rig.system.decide(id, decision('approve', rig.clock.now()));
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(pay.runs).toEqual([]);
    store.commit();
    expect((await deciding).kind).toBe('resolved');
    expect((await ends(rig.system, id)).text).toBe(done);
    expect(pay.runs).toHaveLength(1);
  });

  it('does not mistake an earlier commit for the one of the start', async () => {
    const pay = toolCalled('pay');
    const rig = await openSystem({ tools: [pay], deferred: { pay: {} } });
    const { id } = await parks(rig.system);
    const store = slowStore(rig);
    let deciding: Promise<unknown> = Promise.resolve();
    const committing = gate();
    // A message is being committed, collected already, when a person decides.
    const message = { role: 'user', parts: [], messageId: 'm-2' } as const;
    const said = rig.system.say(id, { message: { ...message, parts: [] }, requester: null });
    const restore = hearDisk(({ name }) => {
      if (name !== 'COMMIT') return;
      restore();
      deciding = rig.system.decide(id, decision('approve', rig.clock.now()));
      store.hold();
      committing.open();
    });
    onTestFinished(restore);
    await committing.opened;
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(briefly(rig.events(id)).at(-1)).toBe('message_received');
    expect(pay.runs).toEqual([]);
    store.commit();
    expect((await said).answer).toEqual({ kind: 'kept' });
    expect(await deciding).toMatchObject({ kind: 'resolved' });
    expect((await ends(rig.system, id)).state).toBe('completed');
    expect(pay.runs).toHaveLength(1);
  });

  it('delays a result for the model until the end of its call is stored', async () => {
    const returned = gate();
    const pay = toolCalled('pay', async () => {
      store.hold();
      returned.open();
      return 'pay ok';
    });
    const rig = await openSystem({ tools: [pay] });
    const store = slowStore(rig);
    const id = await rig.system.open(payment);
    await returned.opened;
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(briefly(rig.events(id)).at(-1)).toBe('tool_exec start');
    expect(await rig.system.reads.whose(id)).toBeDefined();
    expect((await rig.system.reads.find(id))?.state).toBe('working');
    const copy = copyFiles(rig.directory);
    store.commit();
    expect((await ends(rig.system, id)).text).toBe(done);
    const after = await openSystem({
      directory: copy,
      clock: rig.clock,
      tools: [toolCalled('pay')],
    });
    expect((await ends(after.system, id)).text).toBe(unknown);
  });
});

describe('a failing store', () => {
  it('starts no tool when the commit of its release fails, and a restart finds the call held', async () => {
    const pay = toolCalled('pay');
    const rig = await openSystem({ tools: [pay], deferred: { pay: {} } });
    const parked = await parks(rig.system);
    const disk = failingDisk();
    const deciding = rig.system.decide(parked.id, decision('approve', rig.clock.now()));
    await expect(deciding).rejects.toMatchObject({ code: 'unrecorded' });
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(pay.runs).toEqual([]);
    disk.fix();
    const { clock, directory } = rig;
    const options = { directory: copyFiles(directory), clock, tools: [pay], deferred: { pay: {} } };
    const after = await openSystem(options);
    expect(await after.system.reads.find(parked.id)).toEqual(parked);
    const answer = await after.system.decide(parked.id, decision('approve', clock.now()));
    expect(answer.kind).toBe('resolved');
    expect((await ends(after.system, parked.id)).text).toBe(done);
    expect(pay.runs).toHaveLength(1);
  });

  it.each([
    ['is unknown', false, unknown, 0],
    ['runs again', true, done, 1],
  ])('loses the end of a call, which %s after a restart', async (_, idempotent, text, runs) => {
    const pay = toolCalled('pay', async () => {
      failing.push(failingDisk());
      return 'pay ok';
    });
    const failing: { fix: () => void }[] = [];
    const rig = await openSystem({ tools: [pay], deferred: { pay: {} } });
    const { id } = await parks(rig.system);
    await rig.system.decide(id, decision('approve', rig.clock.now()));
    await expect(ends(rig.system, id)).rejects.toMatchObject({ code: 'unrecorded' });
    for (const disk of failing) disk.fix();
    const again = toolCalled('pay', undefined, { idempotent });
    const { clock, directory } = rig;
    const after = await openSystem({ directory: copyFiles(directory), clock, tools: [again] });
    expect((await ends(after.system, id)).text).toBe(text);
    expect(again.runs).toHaveLength(runs);
    const execs = briefly(after.events(id)).filter((event) => event.startsWith('tool_exec'));
    expect(execs).toEqual(['tool_exec start', 'tool_exec end']);
  });
});

describe('a tool that was running when another part of its task was stored', () => {
  it.each([
    ['is unknown', false, unknown, 0],
    ['runs again', true, done, 1],
  ])('%s after a kill, like any other', async (_, idempotent, text, runs) => {
    const started = gate();
    const pay = toolCalled('pay', () => {
      started.open();
      return new Promise(() => undefined);
    });
    const rig = await openSystem({ tools: [pay] });
    const id = await rig.system.open(payment);
    await started.opened;
    rig.system.egress.record({
      scope: { taskId: id, correlationId: 'c-1', tags: {} },
      domain: 'api.example.com',
      mode: 'allowlist',
      reason: null,
    });
    await rig.store.flush();
    expect(briefly(rig.events(id)).at(-1)).toBe('egress_allowed');
    const again = toolCalled('pay', undefined, { idempotent });
    const { clock, directory } = rig;
    const after = await openSystem({ directory: copyFiles(directory), clock, tools: [again] });
    expect((await ends(after.system, id)).text).toBe(text);
    expect(again.runs).toHaveLength(runs);
  });
});
