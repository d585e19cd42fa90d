import { posix } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

/** An event of a coding agent that the gate answers with a decision or records as an outcome. */
export type HookEvent = HookCall | HookOutcome;

/** A call that a coding agent wants to run. */
export interface HookCall {
  kind: 'call';
  session: string;
  /** `null` if the host sends none. */
  callId: string | null;
  tool: string;
  args: JsonObject;
  /** True if the host runs changed arguments in place of its own. */
  mayChange: boolean;
  /** The folder in which the call works; `null` if unknown. */
  cwd: string | null;
  /** Further facts for approvers. */
  context: JsonObject;
}

/** The end of a call that a coding agent ran. */
export interface HookOutcome {
  kind: 'outcome';
  session: string;
  /** `null` if the host sends none, so that the outcome belongs to no known call. */
  callId: string | null;
  status: 'succeeded' | 'failed' | 'not_run';
  /** The result as the host sends it; absent if it sends none. */
  result?: JsonValue;
}

/** The decision on a call, as a gate sends it to a hook program. */
export type HookDecision =
  | { kind: 'allow'; changed: JsonObject | null }
  | { kind: 'deny'; reason: string };

/** What a hook program writes before it exits. */
export interface HookAnswer {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** The hook protocol of one coding agent. */
export interface Dialect {
  /** Reads an event. Throws HookFault for an event that cannot be decided. */
  read(event: JsonObject): HookEvent;
  /** Formats a permission. `changed` has the arguments to run if they differ from those of the event. */
  allow(changed: JsonObject | null): JsonObject;
  /** Reads an answer that `allow` or `deny` formatted; `null` for any other object. */
  decisionIn(answer: JsonObject): HookDecision | null;
  /** True if the host takes silence for a permission, and a permission without changed arguments for a failure. */
  isAllowSilent?: true;
  /** Formats a denial; `reason` is for the model and is never empty. */
  deny(reason: string): JsonObject;
  /** Formats a denial of an event that could not be read, which every version of the host obeys. */
  block(reason: string): HookAnswer;
}

/** An event that cannot be decided; the message is for the user. */
export class HookFault extends Error {
  readonly code = 'hook_event_unusable';
}

/** Returns a member that must be a string. Throws HookFault. */
export function textOf(event: JsonObject, name: string): string {
  const value = event[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new HookFault(`the event has no ${name}; check the version of the coding agent`);
}

/** Returns a string, or `null` if it is absent. */
export function optionalText(event: JsonObject, name: string): string | null {
  return event[name] === undefined || event[name] === null ? null : textOf(event, name);
}

/** Returns the arguments of a call: an object, or the JSON text of one. Throws HookFault. */
export function argsOf(event: JsonObject, name: string): JsonObject {
  const value = event[name];
  const read = typeof value === 'string' ? parsed(value) : value;
  if (isJsonObject(read)) return read;
  throw new HookFault(`${name} of the event is no object; check the version of the coding agent`);
}

/**
 * Returns the folder in which a call works; `null` if unknown. `named` is the folder that its arguments name, if its tool
 * has such an argument. A relative folder is below that of the event. `..` stays, so that rules see it.
 */
export function folderOf(event: JsonObject, named?: JsonValue): string | null {
  const { cwd } = event;
  const base = typeof cwd === 'string' && cwd !== '' ? plain(cwd) : null;
  if (named === undefined || named === null || named === '') return base;
  if (typeof named !== 'string') return null;
  if (isAbsolute(named)) return plain(named);
  return base === null ? null : plain(`${base}/${named}`);
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
}

function plain(path: string): string {
  if (!path.startsWith('/') || path.split('/').includes('..')) return path;
  const short = posix.normalize(path);
  return short === '/' ? short : short.replace(/\/$/, '');
}

/** Returns the named members that an event has. */
export function contextOf(event: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = event[name];
      return typeof value === 'string' && value !== '' ? [[name, value.slice(0, 500)]] : [];
    }),
  );
}

/** Returns a permission with the arguments to run, which are absent if unchanged; `null` if they are no object. */
export function allowed(changed: JsonValue | undefined): HookDecision | null {
  if (changed === undefined) return { kind: 'allow', changed: null };
  return isJsonObject(changed) ? { kind: 'allow', changed } : null;
}

/** Returns a denial; `null` without a reason for the model. */
export function denied(reason: JsonValue | undefined): HookDecision | null {
  return typeof reason === 'string' && reason !== '' ? { kind: 'deny', reason } : null;
}

/** Returns the fault of an event that is neither a call nor the end of one. */
export function unknownEvent(name: string): HookFault {
  return new HookFault(
    `the hook decides on tool calls only, and not on the event ${JSON.stringify(name.slice(0, 60))}; remove it from the settings`,
  );
}

/** Writes a denial to stderr and exits with 2, which blocks a call in Claude Code, Codex and Cursor. */
export function exitBlocked(reason: string): HookAnswer {
  return { stdout: '', stderr: `${reason}\n`, exitCode: 2 };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
