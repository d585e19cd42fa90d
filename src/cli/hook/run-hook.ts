import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { commandLine } from '../../actors/command-line.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Dialect, HookAnswer } from '../../http/hooks/hook-event.ts';
import { HookFault } from '../../http/hooks/hook-event.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { plainLine } from '../../machines/plain-line.ts';
import { type GateChoice, gateAddress } from './gate-address.ts';
import { type GateAnswer, sendEvent } from './gate-request.ts';

export interface HookOptions extends GateChoice {
  /** The coding agent, as in the path of its hooks. */
  name: string;
  dialect: Dialect;
  /** Milliseconds after which an undecided call is cancelled and blocked. */
  wait: number;
}

export interface HookPorts {
  env: NodeJS.ProcessEnv;
  clock: Clock;
}

/** Seconds that one request waits; proxies cut off longer ones. */
const pollSeconds = 50;

/** Milliseconds in which a gate answers beyond the wait that was asked for. */
const answerWithin = 10_000;

/** Milliseconds for which a gate that held the call may be away, such as for a restart. */
const awayFor = 60_000;

const pause = 500;

/** Decides on one event of a coding agent; blocks the call if there is no decision. Never rejects. */
export async function runHook(
  text: string,
  options: HookOptions,
  ports: HookPorts,
): Promise<HookAnswer> {
  const { dialect, name } = options;
  try {
    const event = readEvent(text);
    const read = dialect.read(event);
    const hasId = read.callId !== null;
    const path = `/hooks/${name}${hasId ? '' : `?position=${positionOf(event)}`}`;
    if (read.kind === 'outcome') return await report({ path, body: text }, options, ports);
    return await ask({ path, body: text }, options, ports);
  } catch (error) {
    return dialect.block(`Holdpoint blocked the call: ${plainLine(messageOf(error))}`);
  }
}

function readEvent(text: string): JsonObject {
  const event = parseJson(text);
  if (isJsonObject(event)) return event;
  throw new HookFault(
    'the event on stdin is no JSON object; check the version of the coding agent',
  );
}

/** The length of the transcript tells two equal calls of a session from each other. */
function positionOf({ transcript_path: path }: JsonObject): string {
  if (typeof path === 'string') {
    try {
      return String(statSync(path).size);
    } catch {
      // The call then has an identity of its own.
    }
  }
  return randomUUID();
}

interface Sent {
  path: string;
  body: string;
}

async function ask(sent: Sent, options: HookOptions, ports: HookPorts): Promise<HookAnswer> {
  const { clock } = ports;
  const ends = clock.now() + options.wait;
  let seenAt: number | null = null;
  for (;;) {
    const left = Math.max(0, ends - clock.now());
    const seconds = Math.min(pollSeconds, Math.ceil(left / 1_000));
    const prefer = left === 0 ? 'wait=0' : `respond-async, wait=${seconds}`;
    const asked = await reach({ ...sent, prefer, within: seconds * 1_000 }, options, ports);
    if (asked.status === 200) return answered(asked.text, options);
    const isAway = asked.status === 'away';
    if (asked.status === 202) seenAt = clock.now();
    else if (isAway && asked.wasThere) seenAt ??= clock.now();
    if (!isAway && asked.status !== 202) throw new Error(refusalOf(asked));
    if (isAway && (seenAt === null || left === 0 || clock.now() - seenAt >= awayFor)) {
      throw asked.error;
    }
    await rest(clock, Math.min(pause, left));
  }
}

/** A gate that does not answer now; `wasThere` is true if it accepted the request before. */
interface Away {
  status: 'away';
  wasThere: boolean;
  error: unknown;
}

async function reach(
  { within, ...sent }: Sent & { prefer: string; within: number },
  options: HookOptions,
  { env, clock }: HookPorts,
): Promise<GateAnswer | Away> {
  const limit = new AbortController();
  const most = within + answerWithin;
  const timer = clock.setTimeout(
    () => limit.abort(new Error(`the gate did not answer within ${most / 1_000} s`)),
    most,
  );
  let url = '';
  try {
    const address = gateAddress(options, env);
    url = address.url;
    const answer = await sendEvent(address, { ...sent, signal: limit.signal });
    if (answer.status !== 503) return answer;
    return { status: 'away', wasThere: true, error: new Error(refusalOf(answer)) };
  } catch (caught) {
    const error: unknown = limit.signal.aborted ? limit.signal.reason : caught;
    const { code } = error as { code?: string };
    if (code !== 'ECONNREFUSED') return { status: 'away', wasThere: code === 'ECONNRESET', error };
    const start = commandLine('guard');
    const refused = new Error(`no gate answers at ${url}; start it with: ${start}`);
    return { status: 'away', wasThere: false, error: refused };
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Reports the end of a call. A failure is shown and blocks nothing. */
async function report(sent: Sent, options: HookOptions, ports: HookPorts): Promise<HookAnswer> {
  try {
    const prefer = 'respond-async';
    const answer = await reach({ ...sent, prefer, within: 0 }, options, ports);
    if (answer.status === 200) return { stdout: '', stderr: '', exitCode: 0 };
    throw answer.status === 'away' ? answer.error : new Error(refusalOf(answer));
  } catch (error) {
    const why = plainLine(messageOf(error));
    return {
      stdout: '',
      stderr: `Holdpoint did not record the end of the call: ${why}\n`,
      exitCode: 1,
    };
  }
}

function refusalOf({ status, text }: GateAnswer): string {
  const body = parseJson(text);
  const error = isJsonObject(body) ? body['error'] : undefined;
  const why = typeof error === 'string' ? error : 'no reason is stated';
  const hint = status === 401 ? '; check the token of the gate' : '';
  return `the gate refused the event with ${status}: ${why}${hint}`;
}

/** Returns the decision of a gate in the form of the host. Throws for an answer that is none, since silence may permit. */
function answered(text: string, { dialect }: Pick<HookOptions, 'dialect'>): HookAnswer {
  const answer = parseJson(text);
  const decision = isJsonObject(answer) ? dialect.decisionIn(answer) : null;
  if (decision === null) {
    throw new Error(
      'the answer is no decision, so another program may listen in place of the gate; check its address',
    );
  }
  const form =
    decision.kind === 'allow' ? dialect.allow(decision.changed) : dialect.deny(decision.reason);
  const isSilent = dialect.isAllowSilent && decision.kind === 'allow' && decision.changed === null;
  return { stdout: isSilent ? '' : `${JSON.stringify(form)}\n`, stderr: '', exitCode: 0 };
}

function rest(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, milliseconds);
  });
}
