import { canonicalJson, isPlain, sha256 } from './canonical-json.ts';
import { type Connection, connect, sleep } from './connection.ts';
import {
  type Arguments,
  type AskedCall,
  type Decision,
  HoldReleased,
  type Outcome,
  type PendingHold,
  type RunOptions,
  readHold,
} from './decision.ts';
import { refusedWith } from './errors.ts';

/** Settings of a gate. */
export interface GateOptions extends Connection {
  /** Name of the agent that calls the tools. */
  agent?: string;
  /** Session of every call that names none. */
  session?: string;
  /** Receives the error of an outcome that `guard` could not report. The gate logs such a call as unaccounted. */
  onUnreported?: (error: unknown, decision: Decision) => void;
}

/** How a call is asked for. */
export interface CallOptions {
  /** The same key and call are the same hold. Default: made of `session` and `callId`, random without both. */
  key?: string;
  /** Identifier of the call in its session. */
  callId?: string;
  session?: string;
  agent?: string;
  /** The person for whom the agent works. */
  subject?: string;
  /** The folder in which the call works. Rules can require it. */
  cwd?: string;
  /** Facts that approvers see next to the arguments. */
  context?: Arguments;
  /** Lower-case hex SHA-256 of what would run. */
  runsSha256?: string;
  /** Identifiers of the workflow, such as `{workflow_id: 'w-1'}`. */
  workflow?: Record<string, string>;
  /** Ends the wait. The call stays on hold unless `cancelOnAbort` is set. */
  signal?: AbortSignal;
  /** Cancels the hold when `signal` ends the wait. */
  cancelOnAbort?: boolean;
}

/** A call that the program would run. */
export interface HeldCall<Args extends object = Arguments> extends CallOptions {
  tool: string;
  args: Args;
}

/** How a guarded function asks. */
export interface GuardOptions extends CallOptions, Pick<RunOptions, 'runAgain'> {}

/** A gate of Holdpoint as a program asks it. */
export interface Gate {
  /**
   * Resolves when the call may run. Throws HoldDenied, StepUpRequired, GateUnavailable, the reason of the signal, and
   * TypeError for arguments that are not plain JSON.
   */
  hold<Args extends object>(call: HeldCall<Args>): Promise<Decision<Args & Arguments>>;
  /** Asks once and does not wait for a person. Throws as `hold` does. */
  ask<Args extends object>(call: HeldCall<Args>): Promise<Decision<Args & Arguments> | PendingHold>;
  /**
   * Returns a function that holds the call, runs `run` with the arguments of the answer and reports the outcome. It throws as
   * `hold` does, HoldReleased for a call that an earlier process received, and the error of `run`.
   */
  guard<Args extends object, Result>(
    tool: string,
    run: (args: Args & Arguments, decision: Decision) => Result | Promise<Result>,
    options?: GuardOptions,
  ): (args: Args, options?: GuardOptions) => Promise<Result>;
}

/** Milliseconds that a guarded call may spend on its report. */
const longestReport = 10_000;

/** Maximum length of a key, in characters. */
const longestKey = 256;

/** A browser has none. */
const { process } = globalThis as { process?: { emitWarning?: (text: string) => void } };

/** Hints that were printed, at most 100. */
const printed = new Set<string>();

/** Prints once that the gate lists no tool of a name. */
function hintOnce(tool: string, hint: string | null): void {
  const line = `holdpoint: ${JSON.stringify(tool)} waits for a person: ${hint}`;
  if (hint === null || printed.has(line) || printed.size >= 100) return;
  printed.add(line);
  process?.emitWarning?.(line);
}

/** Returns a gate. Throws TypeError for an unusable address. */
export function createGate(options: GateOptions): Gate {
  const send = connect(options);
  const { timeout = longestReport } = options;
  const sendReport = connect({ ...options, timeout: Math.min(timeout, longestReport) });

  const gate: Gate = {
    async hold(call) {
      const { asked, posted, read } = await open(call);
      const { signal, cancelOnAbort } = call;
      try {
        let known = await read(await orAborted(posted, signal));
        while (known.status === 'pending') {
          const { holdId, retryAfter } = known;
          const sentAt = performance.now();
          known = await read(
            await send({
              ...{ method: 'GET', path: `holds/${holdId}?claim=${asked.claim}`, waits: true },
              signal,
            }),
          );
          if (known.status !== 'pending') break;
          await sleep(Math.max(0, sentAt + retryAfter - performance.now()), signal);
        }
        return known as Decision<typeof call.args & Arguments>;
      } catch (error) {
        if (cancelOnAbort === true && signal?.aborted === true) void cancel(posted, asked);
        throw error;
      }
    },

    async ask(call) {
      const { posted, read } = await open(call);
      return (await read(await orAborted(posted, call.signal))) as
        | Decision<typeof call.args & Arguments>
        | PendingHold;
    },

    guard(tool, run, preset = {}) {
      return async function guarded(args, given = {}) {
        const { runAgain, ...call } = { ...preset, ...given };
        const decision = await gate.hold({ ...call, tool, args });
        return decision.run(run, { runAgain, signal: call.signal });
      };
    },
  };
  return gate;

  /** Sends the call, and returns how answers about it are read. */
  async function open(call: HeldCall<object>) {
    call.signal?.throwIfAborted();
    const { tool, signal, cancelOnAbort } = call;
    const { session = options.session } = call;
    const made = call.key ?? (await keyOf(session, call.callId));
    const asked = { tool, key: made ?? crypto.randomUUID(), claim: crypto.randomUUID() };
    const { agent = options.agent } = call;
    const body = bodyOf(call, { key: asked.key, claim: asked.claim, agent, session });
    const request = { method: 'POST' as const, path: 'holds', body };
    // A hold can be cancelled only after the gate has named it.
    const posted = send(cancelOnAbort === true ? request : { ...request, signal });
    posted.catch(() => undefined);
    const read = async (answer: Awaited<typeof posted>): Promise<Decision | PendingHold> => {
      const known = await readHold(answer, asked);
      if (known.status === 'pending') {
        hintOnce(tool, known.hint);
        return known;
      }
      return decisionOf(tool, known);
    };
    return { asked, posted, read };
  }

  async function cancel(posted: ReturnType<typeof send>, asked: AskedCall): Promise<void> {
    try {
      const known = await readHold(await posted, asked);
      if (known.status === 'pending') {
        await send({ method: 'DELETE', path: `holds/${known.holdId}` });
      } else if (!known.wasReleased) {
        await report(send, known.holdId, { status: 'not_run' });
      }
    } catch {
      // The hold was decided, or stays until it expires; its call does not run.
    }
  }

  function decisionOf(tool: string, known: Omit<Decision, 'report' | 'run'>): Decision {
    const decision: Decision = {
      ...known,
      report: (outcome) => report(send, known.holdId, outcome),
      async run(run, { runAgain = false, signal } = {}) {
        if (decision.wasReleased && !runAgain) throw new HoldReleased(tool, decision);
        if (signal?.aborted === true) {
          await reportQuietly(decision, { status: 'not_run' });
          throw signal.reason;
        }
        let result: Awaited<ReturnType<typeof run>>;
        try {
          result = await run(decision.args, decision);
        } catch (error) {
          await reportQuietly(decision, { status: 'failed', error: String(error) });
          throw error;
        }
        await reportQuietly(decision, { status: 'succeeded', result });
        return result;
      },
    };
    return decision;
  }

  async function reportQuietly(decision: Decision, outcome: Outcome): Promise<void> {
    try {
      await report(sendReport, decision.holdId, outcome);
    } catch (error) {
      options.onUnreported?.(error, decision);
    }
  }
}

async function report(
  send: ReturnType<typeof connect>,
  holdId: string,
  { status, result, error }: Outcome,
): Promise<void> {
  const digest = result === undefined ? null : await resultDigest(result);
  const body = JSON.stringify({
    status,
    ...(digest === null ? {} : { result_sha256: digest }),
    ...(error === undefined || error === '' ? {} : { error: error.slice(0, 2_000).toWellFormed() }),
  });
  const answer = await send({ method: 'POST', path: `holds/${holdId}/outcome`, body });
  if (answer.status === 200) return;
  throw refusedWith(answer.status, answer.body, 'the gate refused the outcome with');
}

/** Returns the digest of a string's UTF-8 bytes, or of the RFC 8785 form of other JSON; `null` if it is not plain JSON. */
async function resultDigest(result: unknown): Promise<string | null> {
  try {
    return await sha256(typeof result === 'string' ? result : canonicalJson(result, 'result'));
  } catch {
    return null;
  }
}

/** Returns the body of `POST /holds`. Throws TypeError for arguments that are not plain JSON. */
function bodyOf(
  { tool, args, subject, cwd, context, runsSha256, workflow }: HeldCall<object>,
  known: { key: string; claim: string; agent: string | undefined; session: string | undefined },
): string {
  if (!isPlain(args)) throw new TypeError('args must be a plain object');
  canonicalJson(args, 'args');
  canonicalJson(context ?? null, 'context');
  const asked = { ...known, tool, args, subject, cwd, context, runs_sha256: runsSha256 };
  return JSON.stringify({ ...workflow, ...asked });
}

/** Returns the key of a call of a session; `null` without both. */
async function keyOf(
  session: string | undefined,
  callId: string | undefined,
): Promise<string | null> {
  if (session === undefined || callId === undefined) return null;
  const key = `${session.replaceAll(':', '%3A')}:${callId}`;
  return key.length > longestKey ? sha256(key) : key;
}

/** Resolves with a promise, or rejects with the reason of a signal. */
async function orAborted<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (signal === undefined) return promise;
  const aborted = Promise.withResolvers<never>();
  const leave = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
