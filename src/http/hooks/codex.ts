import type { JsonObject } from '../../machines/json.ts';
import { claudeCode } from './claude-code.ts';
import { contextOf, type Dialect, type HookEvent } from './hook-event.ts';

/**
 * The hooks of Codex (https://developers.openai.com/codex/hooks and codex-rs/hooks/src/events/pre_tool_use.rs). They
 * have the form of Claude Code, except that `allow` without changed arguments counts as a failure of the hook: silence
 * with exit code 0 is the permission, which the hook program prints for the answer of the gate.
 */
export const codex: Dialect = {
  ...claudeCode,
  read,
  isAllowSilent: true,
};

/**
 * The hook of a shell receives the `workdir` of its command as `cwd` from 0.171.0 on, and the folder of the session before, such
 * as in 0.169.0. Nothing names the version, so the folder of the call is unknown.
 */
function read(event: JsonObject): HookEvent {
  const call = claudeCode.read(event);
  if (call.kind !== 'call' || call.tool !== shell) return call;
  const { cwd: session } = contextOf(event, ['cwd']);
  const { command } = call.args;
  const isOpen = typeof command === 'string' && interactive.test(command);
  const stated = {
    ...(session === undefined ? {} : { session_cwd: session }),
    ...(isOpen ? { warning: unasked } : {}),
  };
  return { ...call, cwd: null, context: { ...call.context, ...stated } };
}

const shell = 'Bash';

/** Programs that read commands from their input. */
const interactive =
  /^(?:[^ ]*\/)?(?:sudo|su|env|ssh|docker|kubectl|(?:ba|da|z|fi|k|c)?sh|python[0-9.]*|node|ruby|irb|perl|php|lua|psql|mysql|sqlite3|gdb|ftp|sftp|telnet|nc)(?: |$)/;

const unasked = 'Codex asks no hook for what is typed into this program later (write_stdin)';
