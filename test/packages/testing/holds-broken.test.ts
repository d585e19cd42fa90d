import { expect, it } from 'vitest';
import {
  type Hold,
  type HoldsAdapter,
  holdChecks,
  isRefused,
  type Refusal,
  runHoldChecks,
} from '../../../packages/testing/holds/holds.ts';
import { faults, MemoryHolds } from './memory-holds.ts';

/** What an implementation does other than the correct one. */
type Change = (holds: MemoryHolds) => Partial<HoldsAdapter>;

const reading =
  (change: (hold: Hold) => Partial<Hold>): Change =>
  (holds) => ({
    read: async (id, by) => {
      const hold = await holds.read(id, by);
      return isRefused(hold) ? hold : { ...hold, ...change(hold) };
    },
  });

const askingAs =
  (keyOf: (key: string, args: object) => string): Change =>
  (holds) => ({ ask: (call) => holds.ask({ ...call, key: keyOf(call.key, call.args) }) });

let requests = 0;

/** Defects, each of which the checks named with it must find. */
const changes: [names: string[], change: Change][] = [
  [['idempotency/same-call', 'races/ask-while-decided'], askingAs(() => `${(requests += 1)}`)],
  [['idempotency/two-keys'], askingAs(() => 'the same')],
  [['idempotency/odd-keys'], askingAs((key) => key.trim().toLowerCase())],
  [['idempotency/member-order'], askingAs((key, args) => key + JSON.stringify(args))],
  [
    ['idempotency/runs-once', 'binding/runs-as-asked', 'binding/other-arguments-never-run'],
    (holds) => ({
      take: async (...asked) => {
        const taken = await holds.take(...asked);
        return isRefused(taken) ? taken : { to: 'EVE' };
      },
    }),
  ],
  [
    ['single-decision/repeated-approval', 'races/runs-once', 'races/takers'],
    (holds) => ({
      take: async (id, by) => {
        const hold = await holds.read(id, by);
        return !isRefused(hold) && hold.status === 'approved' ? {} : holds.take(id, by);
      },
    }),
  ],
  [
    ['fail-closed/rejected-call', 'fail-closed/cancelled-call'],
    () => ({ take: async () => ({ to: 'A-1042' }) }),
  ],
  [
    ['binding/seen-as-asked'],
    (holds) => ({
      waiting: async () => (await holds.waiting()).map((call) => ({ ...call, args: {} })),
    }),
  ],
  [
    ['single-decision/no-longer-waits'],
    (holds) => {
      const seen = new Map<string, Awaited<ReturnType<MemoryHolds['waiting']>>[number]>();
      const note = async () => {
        for (const call of await holds.waiting()) seen.set(call.id, call);
      };
      return {
        ask: async (call) => {
          const hold = await holds.ask(call);
          await note();
          return hold;
        },
        waiting: async () => [...seen.values()],
      };
    },
  ],
  [
    ['binding/digest-of-its-own'],
    (holds) => ({
      decide: async (id, decision) =>
        decision.digest === undefined ? holds.decide(id, decision) : { refused: 'a digest' },
    }),
  ],
  [
    ['single-decision/one-call'],
    (holds) => ({
      decide: async (id, decision) => {
        const refusal = await holds.decide(id, decision);
        if (refusal !== undefined) return refusal;
        for (const call of await holds.waiting()) await holds.decide(call.id, decision);
        return undefined;
      },
    }),
  ],
  [
    ['single-decision/unknown-hold', 'expiry/approval-at-the-deadline'],
    (holds) => ({ decide: async (...asked) => void (await holds.decide(...asked)) }),
  ],
  [
    ['races/no-way-back'],
    reading(({ status }) => ({
      status: status === 'rejected' && (requests += 1) % 3 === 0 ? 'pending' : status,
    })),
  ],
  [
    ['fail-closed/unknown-hold'],
    (holds) => ({
      read: async (id, by) => orElse(await holds.read(id, by), { id, status: 'pending' }),
    }),
  ],
  [
    ['fail-closed/empty-key', 'fail-closed/not-an-object'],
    (holds) => ({
      ask: async (call) => orElse(await holds.ask(call), { id: 'x', status: 'pending' }),
    }),
  ],
  [
    ['fail-closed/unknown-tool'],
    (holds) => ({
      ask: async (call) =>
        call.tool === 'unlisted' ? { id: call.key, status: 'allowed' } : holds.ask(call),
    }),
  ],
  [
    ['expiry/rejected', 'expiry/approval-in-time'],
    (holds) => {
      let isOver = false;
      return {
        pass: async (milliseconds) => {
          isOver = true;
          await holds.pass(milliseconds);
        },
        ...reading(({ status }) => ({ status: isOver ? 'expired' : status }))(holds),
      };
    },
  ],
  [['people/note'], reading(() => ({ note: null }))],
  [['outcome/shown'], reading(() => ({ outcome: null }))],
  [
    ['outcome/repeated'],
    (holds) => {
      const reported = new Set<string>();
      return {
        report: async (id, outcome, by) => {
          if (reported.has(id)) return { refused: 'again' };
          reported.add(id);
          return holds.report(id, outcome, by);
        },
      };
    },
  ],
  [
    [
      ...['outcome/of-a-waiting-call', 'outcome/of-a-rejected-call', 'outcome/of-no-call'],
      'outcome/of-a-call-not-taken',
    ],
    () => ({ report: async () => undefined }),
  ],
];

const runs = new Map<Change, Promise<string[]>>();

it.each(changes)('%s find a defect', async (names, change) => {
  expect(await failedAfter(change)).toEqual(expect.arrayContaining(names));
});

it('each check finds a defect', async () => {
  const failed = await Promise.all([
    ...changes.map(([, change]) => failedAfter(change)),
    ...faults.map((fault) => failedBy(new MemoryHolds(fault))),
  ]);
  const found = new Set(failed.flat());
  expect(holdChecks.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([]);
});

/** Ids of the checks that fail after a change, which are run once. */
function failedAfter(change: Change): Promise<string[]> {
  const run = runs.get(change) ?? failedBy(changed(new MemoryHolds(), change));
  runs.set(change, run);
  return run;
}

async function failedBy(holds: HoldsAdapter): Promise<string[]> {
  const { results } = await runHoldChecks(holds, { patience: 0.1 });
  return results.flatMap(({ id, status }) => (status === 'failed' ? [id] : []));
}

function changed(holds: MemoryHolds, change: Change): HoldsAdapter {
  const own: Partial<HoldsAdapter> = change(holds);
  return new Proxy<HoldsAdapter>(holds, {
    get: (_, name: keyof HoldsAdapter) => {
      const member = own[name] ?? holds[name as keyof MemoryHolds];
      return typeof member === 'function' ? member.bind(holds) : member;
    },
  });
}

function orElse(answer: Hold | Refusal, hold: Hold): Hold {
  return isRefused(answer) ? hold : answer;
}
