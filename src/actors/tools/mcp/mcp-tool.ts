import { hash } from 'node:crypto';
import type { Progress } from '@modelcontextprotocol/client';
import canonicalize from 'canonicalize';
import type { RemoteTask } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { redactSecrets } from '../../governance/governance.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Tool, ToolError, type ToolProgress, type ToolRun } from '../../ports/tool.ts';
import { rest } from '../../rest.ts';
import { AskedPeople } from './asked-people.ts';
import { CallDeadline, type CallLimits } from './call-deadline.ts';
import {
  calledOff,
  type Ending,
  endedCall,
  failedCall,
  questionedCall,
  UndoneCall,
  undoneCall,
} from './call-failure.ts';
import { isLoss, isUndone } from './connection-fault.ts';
import { type FollowedResult, followTask } from './follow-task.ts';
import { handedOn } from './handed-on.ts';
import { HttpRefusal } from './http-refusal.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { Asker, McpSession } from './mcp-session.ts';
import { movedCall } from './moved-call.ts';
import type { OfferedTool } from './offered-tool.ts';
import type { ServerTask } from './server-task.ts';
import { WaitAtServer } from './wait-at-server.ts';

export interface McpToolParts {
  /** The agent's name for the tool. */
  name: string;
  offered: OfferedTool;
  idempotent: boolean;
  connection: Pick<McpConnection, 'session' | 'fault' | 'followed'>;
  /** The agent's credentials for the server; redacted from results. */
  secrets: readonly string[];
  clock: Clock;
  /** Name of the server. */
  server: string;
  /** True if people answer the questions of the server. */
  asks: boolean;
  /** Returns the server's URL or program: the same definition on another server is a different tool. */
  place: () => Promise<JsonObject>;
  /** 60 s, 24 h and 10 s by default. */
  limits?: Partial<CallLimits>;
  /** Receives the end of each request for a call, with its time in milliseconds. */
  onCalled?: (took: number, hasFailed: boolean) => void;
}

/** Pause before a call is repeated for a server that asks nothing, in milliseconds. */
const retryPause = 1_000;

/** Maximum attempts of one call that its server answers with questions. */
const mostRounds = 10;

const usualLimits: CallLimits = { timeout: 60_000, total: 86_400_000, connect: 10_000 };

/**
 * Creates an agent's tool from an MCP server's tool (docs/contract/models.md). The server validates arguments; here
 * only missing and unknown ones are detected, so that no approver is asked about a call that cannot run. Untrusted
 * schemas are not compiled. Stopping a call cancels it at the server.
 */
export function mcpTool(parts: McpToolParts): Tool {
  const { name, offered, idempotent } = parts;
  return {
    name,
    idempotent,
    description: offered.description,
    parameters: offered.parameters,
    ...(offered.annotations === undefined ? {} : { annotations: offered.annotations }),
    ...(offered.outputSchema === undefined ? {} : { outputSchema: offered.outputSchema }),
    async identity() {
      const { server, place } = parts;
      const { signal } = new AbortController();
      const sha256 = await onceMore(parts, signal, (session) => digestOf(session, parts));
      return { server, place: await place(), sha256 };
    },
    check: (args) => misfit(name, offered.parameters, args),
    async run(args, run) {
      const problem = misfit(name, offered.parameters, args);
      if (problem !== null) throw new ToolError(problem, { kind: 'invalid arguments' });
      await run.confirm?.();
      return onceMore(parts, run.signal, async (session, isAgain) => {
        if (isAgain) {
          if ((await digestOf(session, parts)) !== offered.sha256) throw changed(name);
          await run.confirm?.();
        }
        return textOf(parts, await called(session, parts, args, run), run);
      });
    },
  };
}

/** Follows the task of a call that was made before the daemon started. Rejects with a ToolError. */
export async function followCall(
  parts: Omit<McpToolParts, 'offered' | 'idempotent'>,
  remote: RemoteTask,
  run: ToolRun,
): Promise<string> {
  const { name, server, clock, limits } = parts;
  if ((await placeOf(parts)) !== remote.place) throw movedCall(name);
  const { total } = { ...usualLimits, ...limits };
  const left = Math.max(0, remote.since + total - clock.now());
  const deadline = new CallDeadline(clock, { timeout: null, total: left });
  const wait = new WaitAtServer(server, run.onWait);
  const onMessage = messagesOf(parts, run);
  const people = new AskedPeople(parts, run, AbortSignal.any([run.signal, deadline.signal]));
  try {
    const ended = await followTask({ remote, parts, run, deadline, wait, people, onMessage }, null);
    return textOf(parts, ended, run);
  } finally {
    deadline.end();
    wait.end();
  }
}

function textOf(
  { name, secrets }: Pick<McpToolParts, 'name' | 'secrets'>,
  { result, session }: FollowedResult,
  run: ToolRun,
): string {
  return handedOn(name, result, [...secrets, ...session.secrets], run);
}

/** Returns the digest of what identifies the server; a task is never requested from another one. */
async function placeOf({ place }: Pick<McpToolParts, 'place'>): Promise<string> {
  return hash('sha256', canonicalize(await place()) ?? '', 'hex');
}

/** Passes the messages about a task on as progress. */
function messagesOf(
  { secrets }: Pick<McpToolParts, 'secrets'>,
  run: ToolRun,
): (message: string, session: McpSession) => void {
  let progress = 0;
  return (message, session) => {
    progress += 1;
    const said = redactSecrets(message, [...secrets, ...session.secrets]);
    run.onProgress?.({ progress, message: said });
  };
}

/**
 * Uses the current session, and a new one if its server has certainly executed nothing: an approval may arrive after
 * the server has forgotten the session.
 */
async function onceMore<Result>(
  parts: McpToolParts,
  signal: AbortSignal,
  use: (session: McpSession, isAgain: boolean) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(await sessionFor(parts, signal), false);
  } catch (error) {
    if (!(error instanceof UndoneCall) || signal.aborted) throw error;
    return use(await sessionFor(parts, signal), true);
  }
}

/** Returns the current hash of the tool at its server. */
async function digestOf(
  session: McpSession,
  { name, offered }: McpToolParts,
): Promise<string | null> {
  try {
    return await session.digestOf(offered.name, offered.sha256);
  } catch (error) {
    if (!isLoss(error)) throw failedCall(name, error);
    session.lose(error);
    throw undoneCall(name, error);
  }
}

function shownProgress(
  { progress, total, message }: Progress,
  secrets: readonly string[],
): ToolProgress {
  return {
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: redactSecrets(message, secrets) }),
  };
}

function changed(name: string): ToolError {
  const message = `${name} was not run: its server was connected again, and what would run has changed`;
  return new ToolError(message, { kind: 'changed' });
}

async function sessionFor(
  { name, connection, clock, limits }: McpToolParts,
  signal: AbortSignal,
): Promise<McpSession> {
  const { connect } = { ...usualLimits, ...limits };
  const late = new AbortController();
  const timer = clock.setTimeout(() => late.abort(), connect);
  const session = await connection.session(AbortSignal.any([signal, late.signal]));
  clock.clearTimeout(timer);
  if (signal.aborted) throw endedCall(name, 'stopped');
  if (session !== null) return session;
  const why = connection.fault === null ? '' : ` (it ${connection.fault})`;
  const message = `${name} was not run: its server is not connected${why}; try again later`;
  throw new ToolError(message, { kind: 'not connected' });
}

async function called(
  session: McpSession,
  parts: McpToolParts,
  args: JsonObject,
  run: ToolRun,
): Promise<FollowedResult> {
  const { name, offered, clock, limits } = parts;
  const deadline = new CallDeadline(clock, { ...usualLimits, ...limits });
  const wait = new WaitAtServer(parts.server, run.onWait);
  const secrets = [...parts.secrets, ...session.secrets];
  const onProgress = (said: Progress): void => {
    deadline.moved();
    if (!wait.hear(said)) run.onProgress?.(shownProgress(said, secrets));
  };
  const signal = AbortSignal.any([run.signal, deadline.signal]);
  const people = new AskedPeople(parts, run, signal);
  const ask: Asker = (question) => deadline.paused(() => people.ask(question));
  const began = performance.now();
  let isCounted = false;
  const count = (hasFailed: boolean): void => {
    if (!isCounted) parts.onCalled?.(performance.now() - began, hasFailed);
    isCounted = true;
  };
  try {
    let answer = await session.call(offered, args, { signal, onProgress, ask });
    count(false);
    for (let rounds = 1; answer.kind === 'questions'; rounds += 1) {
      if (rounds > mostRounds) throw questionedCall(name);
      const { requests, state: requestState } = answer;
      const inputResponses = await deadline.paused(() => people.askAll(requests, rounds));
      if (Object.keys(requests).length === 0) await rest(retryPause, clock, signal);
      const answers = { inputResponses, ...(requestState === undefined ? {} : { requestState }) };
      await run.confirm?.();
      answer = await session.call(offered, args, { signal, onProgress, ask, answers });
    }
    if (answer.kind === 'result') return { result: answer.result, session };
    deadline.relax();
    wait.hear(answer.task.said);
    const remote = await detached(parts, answer.task, run);
    const onMessage = messagesOf(parts, run);
    return await followTask({ remote, parts, run, deadline, wait, people, onMessage }, answer.task);
  } catch (error) {
    count(!run.signal.aborted);
    if (error instanceof ToolError) throw error;
    const ending = endingOf(session, run.signal, deadline.signal);
    if (ending === 'timeout' && (await wait.hasNeverRun(session))) {
      throw calledOff(name, parts.server, wait.said);
    }
    if (ending !== null && (ending !== 'lost' || !isUndone(error))) throw endedCall(name, ending);
    if (isLoss(error)) session.lose(error);
    else if (error instanceof HttpRefusal) session.doubt();
    throw failedCall(name, error);
  } finally {
    deadline.end();
    wait.end();
  }
}

/** No server is identified by it, so the task is lost with the daemon. */
const unreadable = '';

/** Stores the task that continues a call, so that a restart of the daemon follows it. */
async function detached(
  parts: McpToolParts,
  { id, ttl }: ServerTask,
  run: ToolRun,
): Promise<RemoteTask> {
  const since = parts.clock.now();
  const remote = { id, since, ttl, place: await placeOf(parts).catch(() => unreadable) };
  run.onDetached?.(remote);
  return remote;
}

function endingOf(session: McpSession, signal: AbortSignal, late: AbortSignal): Ending | null {
  if (signal.aborted) return 'stopped';
  if (late.aborted) return 'timeout';
  return session.isOpen ? null : 'lost';
}

function misfit(name: string, parameters: JsonObject, args: JsonObject): string | null {
  const { required, properties, additionalProperties } = parameters;
  const needed = Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
  const missing = needed.find((key) => !Object.hasOwn(args, key));
  if (missing !== undefined) return `${name}: argument ${missing} is missing`;
  if (additionalProperties !== false || 'patternProperties' in parameters) return null;
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  const unknown = Object.keys(args).find((key) => !Object.hasOwn(known, key));
  return unknown === undefined ? null : `${name}: argument ${unknown} is not known`;
}
