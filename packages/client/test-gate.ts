import { argsDigest } from './canonical-json.ts';
import type { Arguments } from './decision.ts';
import type { DeniedStatus } from './errors.ts';
import { createGate, type Gate, type GateOptions } from './gate.ts';

/** A call as the gate receives it. */
export interface TestCall {
  key: string;
  tool: string;
  args: Arguments;
  agent?: string;
  session?: string;
  subject?: string;
  cwd?: string;
  context?: Arguments;
}

/** The answer of a test gate: a status, or a status with its members. */
export type TestDecision =
  | 'allowed'
  | 'approved'
  | DeniedStatus
  | {
      status: 'allowed' | 'approved' | DeniedStatus;
      /** The arguments that may run. Default: those of the call. */
      args?: Arguments;
      reason?: string;
      note?: string;
      approver?: string;
      /** True for a call that an earlier process received. */
      released?: boolean;
    };

/** An outcome as the gate receives it. */
export interface TestOutcome {
  tool: string;
  key: string;
  status: 'succeeded' | 'failed' | 'not_run';
  result_sha256?: string;
  error?: string;
}

/** A gate in memory, with the calls and outcomes that it received. */
export interface TestGate extends Gate {
  readonly calls: TestCall[];
  readonly outcomes: TestOutcome[];
}

/** Options of a test gate. */
export interface TestGateOptions extends Pick<GateOptions, 'agent' | 'session'> {
  /** Decides each key once. A promise keeps the call waiting. Default: allows every call. */
  decide?: (call: TestCall) => TestDecision | Promise<TestDecision>;
}

/** Returns a gate for tests. It sends nothing, and behaves as the client does with a real gate. */
export function createTestGate({
  decide = () => 'allowed',
  ...options
}: TestGateOptions = {}): TestGate {
  const calls: TestCall[] = [];
  const outcomes: TestOutcome[] = [];
  const holds = new Map<string, Promise<object>>();

  const answer = async (path: string, body: string): Promise<Response> => {
    const [, index = ''] = /\/holds\/hold-(\d+)\/outcome$/.exec(path) ?? [];
    if (index !== '') {
      const { tool, key } = calls[Number(index) - 1] as TestCall;
      outcomes.push({ tool, key, ...(JSON.parse(body) as Omit<TestOutcome, 'tool' | 'key'>) });
      return Response.json({});
    }
    const { claim: _, ...call } = JSON.parse(body) as TestCall & { claim: string };
    const known = holds.get(call.key) ?? decided(call, `hold-${calls.push(call)}`);
    holds.set(call.key, known);
    return Response.json(await known);
  };

  async function decided(call: TestCall, hold_id: string): Promise<object> {
    const decision = await decide(call);
    const {
      status,
      args = call.args,
      ...members
    } = typeof decision === 'string' ? { status: decision } : decision;
    const known = { hold_id, key: call.key, status, ...members };
    if (status !== 'allowed' && status !== 'approved') return known;
    return { ...known, args, args_sha256: await argsDigest(call.tool, args) };
  }

  const gate = createGate({
    ...options,
    url: 'http://gate.invalid',
    fetch: (url, { body }) => answer(url, body as string),
  });
  return { ...gate, calls, outcomes };
}
