import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { HoldOutcome } from '../../machines/domain/hold.ts';
import type { Task } from '../../machines/domain/task.ts';
import type { JsonObject, JsonValue } from '../../machines/json.ts';
import { cutToRunes } from '../../machines/text.ts';
import {
  type AcsDecision,
  AcsError,
  denial,
  mcpMessage,
  readPayload,
  toolCallRequest,
  toolCallResult,
} from '../wire/acs.ts';
import { holdStatus, presentHold } from '../wire/hold.ts';

/** A step that the rules of the gate decide on, as a call of a tool. */
export interface AcsCall {
  tool: string;
  args: JsonObject;
  /** Facts for approvers. */
  context: JsonObject;
  /** Digest of all that determines what would run; equal steps of a session are one question. */
  sha256: string;
  /** True if the client can run the call with changed arguments. */
  mayChange: boolean;
  /** The id under which the outcome of the call arrives; `null` for the id of the request. */
  id: string | null;
}

/** The end of a call. */
export interface AcsOutcome extends Pick<HoldOutcome, 'status' | 'resultSha256'> {
  id: string;
}

/** The part of a step that matters to the gate: a call, the end of a call, or neither. */
export interface AcsStep {
  call?: AcsCall;
  outcome?: AcsOutcome;
}

/** Reads a step that the rules decide on. Throws AcsError. */
export function readCall(
  method: 'steps/toolCallRequest' | 'steps/subagentStart',
  payload: JsonObject,
): AcsCall {
  if (method === 'steps/subagentStart') {
    const tool = 'subagentStart';
    const sha256 = digestOf([method, payload]);
    return { tool, args: payload, context: {}, sha256, mayChange: false, id: null };
  }
  const { tool, arguments: given, ...step } = readPayload(toolCallRequest, payload);
  const named = Object.fromEntries(
    Object.entries(given).map(([name, { value }]) => [name, value as JsonValue]),
  );
  const { operation, capability, raw_command: command, intent } = step;
  // A client may run the one or the other, and rules look at arguments.
  const isOther = command !== undefined && command !== named['command'];
  for (const name of ['command', 'raw_command']) {
    if (!isOther || !Object.hasOwn(named, name) || named[name] === command) continue;
    throw unreadable(`raw_command differs from the argument ${name}; send the command that runs`);
  }
  const args: JsonObject = isOther ? { ...named, raw_command: command } : named;
  const context = shortTexts({
    operation,
    capability,
    description: intent?.description,
    goal: intent?.goal,
  });
  const sha256 = digestOf([method, tool, args, operation ?? null, command ?? null]);
  return { tool: tool.name, args, context, sha256, mayChange: !isOther, id: null };
}

/** Reads the end of a call; an empty object if the client does not name the call. Throws AcsError. */
export function readResult(payload: JsonObject): AcsStep {
  const { request_id_ref: id, exit_status: exit, outputs } = readPayload(toolCallResult, payload);
  if (id === undefined) return {};
  const status = exit === 'success' ? 'succeeded' : exit === 'blocked' ? 'not_run' : 'failed';
  const resultSha256 = digestOf(outputs.map(({ value }) => value));
  return { outcome: { id, status, resultSha256 } };
}

/** MCP requests that name no tool, data or prompt. Every other request is a question to the rules. */
const harmless: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/unsubscribe',
  'roots/list',
  'completion/complete',
  'logging/setLevel',
]);

/** Reads a wrapped MCP message: a call, the end of a call, or an empty object if it is only recorded. Throws AcsError. */
export function readMcp(method: string, payload: JsonObject): AcsStep {
  const message = readPayload(mcpMessage, payload);
  const id = message.id === undefined ? null : `mcp:${digestOf([message.id])}`;
  if (message.method === undefined) {
    const isResult = message.result !== undefined;
    if (id === null || isResult === (message.error !== undefined)) {
      throw unreadable('a response needs an id, and either result or error');
    }
    const isFailed = !isResult || message.result?.['isError'] === true;
    const resultSha256 = digestOf(message.result ?? message.error);
    return { outcome: { id, status: isFailed ? 'failed' : 'succeeded', resultSha256 } };
  }
  if (message.method !== method) {
    throw unreadable(`the message is ${message.method}, and the request wraps ${method}`);
  }
  if (harmless.has(method) || method.startsWith('notifications/')) return {};
  const params = (message.params ?? {}) as JsonObject;
  const sha256 = digestOf(['mcp', method, params]);
  if (method !== 'tools/call') {
    const call = { tool: `mcp:${method}`, args: params, context: {}, sha256, mayChange: false };
    return { call: { ...call, id } };
  }
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string' || !isObject(args)) {
    throw unreadable('tools/call needs a name and an object of arguments');
  }
  // Its server chose the name, which must not be that of a tool of the client.
  const tool = `mcp:${method}/${name}`;
  return { call: { tool, args, context: {}, sha256, mayChange: true, id } };
}

/** Formats the end of a hold as a decision. Throws the Problem of a hold that needs another sign-in. */
export function decisionOf(task: Task, call: AcsCall): AcsDecision {
  const { args, reason } = presentHold(task, { isTaken: true });
  const status = holdStatus(task);
  if (args === undefined) {
    const why = reason?.replace(/^(canceled|defer): /, '') ?? status;
    return denial(`the call may not run: ${why}`, status);
  }
  const runs = args as JsonObject;
  if (canonicalize(runs) === canonicalize(call.args)) return { decision: 'allow' };
  const isNarrower = Object.keys(call.args).some((name) => !Object.hasOwn(runs, name));
  if (isNarrower || !call.mayChange) {
    const why = `the call may run only with other arguments, which the client cannot apply; make this call: ${JSON.stringify(runs)}`;
    return denial(why, 'modify_unsupported');
  }
  const changed = Object.entries(runs).filter(
    ([name, value]) => canonicalize(value) !== canonicalize(call.args[name]),
  );
  const modifications = { parameter_overrides: Object.fromEntries(changed) };
  const reasoning = `the call runs with other arguments: ${changed.map(([name]) => name).join(', ')}`;
  return { decision: 'modify', reasoning, modifications };
}

/** Returns the SHA-256 of a JSON value in its canonical form, in lower-case hex. */
export function digestOf(value: unknown): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}

function unreadable(message: string): AcsError {
  return new AcsError('invalidParams', `params.payload: ${message}`);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum length of a string that approvers see next to the arguments, in code points. */
const longestText = 500;

function shortTexts(texts: Record<string, string | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, cutToRunes(text, longestText)]],
    ),
  );
}
