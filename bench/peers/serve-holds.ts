import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Arguments,
  AskedCall,
  Hold,
  HoldDecision,
  Refusal,
  WaitingCall,
} from '../../packages/testing/holds/holds.ts';

/** What the program of a peer does with calls that wait for an approval; `undefined` of `read` is no such hold. */
export interface PeerHolds {
  ask(call: AskedCall): Promise<unknown>;
  read(id: string): Promise<Omit<Hold, 'id'> | undefined>;
  decide(id: string, decision: HoldDecision): Promise<unknown>;
  waiting?(): Promise<WaitingCall[]>;
  cancel?(id: string): Promise<unknown>;
  close?(): Promise<unknown>;
}

/** What such a program starts with. */
export interface HoldsStart {
  /** Where it keeps what must outlive it. */
  directory: string;
  /** Addresses of its server, where it has one. */
  server: Record<string, string>;
  /** Records a run of a call; the file outlives the program. */
  run(id: string, args: Arguments): void;
}

/** A request to such a program. */
export interface PeerRequest {
  number: number;
  method: keyof PeerHolds;
  args: unknown[];
}

/** Its answer. */
export type PeerAnswer = { number: number } & ({ value: unknown } | { failed: string });

/** The file of the runs of calls, a JSON line each. */
export const runsFile = 'runs.ndjson';

/** Opens the holds of a peer, reports it to the program that started this one, and answers requests until that is gone. */
export async function serveHolds(open: (start: HoldsStart) => Promise<PeerHolds>): Promise<void> {
  process.on('disconnect', () => process.exit());
  const { directory, server } = JSON.parse(process.argv[2] ?? '{}') as HoldsStart;
  const run = (id: string, args: Arguments) =>
    appendFileSync(join(directory, runsFile), `${JSON.stringify({ id, args })}\n`);
  const holds = await open({ directory, server, run });
  process.on('SIGTERM', () => void (holds.close?.() ?? Promise.resolve()).finally(process.exit));
  process.on('message', ({ number, method, args }: PeerRequest) => {
    answer(holds, method, args).then(
      (value) => process.send?.({ number, value } satisfies PeerAnswer),
      (error: unknown) => process.send?.({ number, failed: String(error) } satisfies PeerAnswer),
    );
  });
  process.send?.({ answer: {} });
}

/** An error of `ask`, `decide` and `cancel` is the refusal of the peer. */
async function answer(
  holds: PeerHolds,
  method: keyof PeerHolds,
  args: readonly unknown[],
): Promise<unknown> {
  switch (method) {
    case 'ask': {
      const call = args[0] as AskedCall;
      return (await refusalOf(() => holds.ask(call))) ?? hold(holds, call.key);
    }
    case 'read':
      return hold(holds, args[0] as string);
    case 'decide':
      return refusalOf(() => holds.decide(args[0] as string, args[1] as HoldDecision));
    case 'cancel':
      return refusalOf(async () => holds.cancel?.(args[0] as string));
    case 'waiting':
      return holds.waiting?.();
    case 'close':
      return holds.close?.();
  }
}

async function hold(holds: PeerHolds, id: string): Promise<Hold | Refusal> {
  const found = await holds.read(id);
  return found === undefined ? { refused: 'not found' } : { ...found, id };
}

async function refusalOf(request: () => Promise<unknown>): Promise<Refusal | undefined> {
  try {
    await request();
    return undefined;
  } catch (error) {
    return { refused: String(error) };
  }
}
