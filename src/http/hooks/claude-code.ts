import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import {
  allowed,
  argsOf,
  contextOf,
  type Dialect,
  denied,
  exitBlocked,
  folderOf,
  type HookDecision,
  type HookEvent,
  textOf,
  unknownEvent,
} from './hook-event.ts';

/**
 * The hooks of Claude Code (https://code.claude.com/docs/en/hooks): `hookSpecificOutput.permissionDecision`, exit code
 * 2 blocks. Verified with 2.1.328 by `npm run try:hosts`.
 */
export const claudeCode: Dialect = { read, allow, deny, decisionIn, block: exitBlocked };

const events = new Set(['PreToolUse', 'PostToolUse', 'PostToolUseFailure']);

function read(event: JsonObject): HookEvent {
  const name = textOf(event, 'hook_event_name');
  if (!events.has(name)) throw unknownEvent(name);
  const ids = { session: textOf(event, 'session_id'), callId: textOf(event, 'tool_use_id') };
  if (name === 'PreToolUse') {
    return {
      ...{ kind: 'call', ...ids, tool: textOf(event, 'tool_name') },
      ...{ args: argsOf(event, 'tool_input'), mayChange: true },
      cwd: folderOf(event),
      context: contextOf(event, ['permission_mode', 'agent_type', 'model']),
    };
  }
  const result = event['tool_response'];
  if (name === 'PostToolUse') {
    const stated = result === undefined ? {} : { result };
    return { kind: 'outcome', ...ids, status: 'succeeded', ...stated };
  }
  return { kind: 'outcome', ...ids, status: 'failed' };
}

function allow(changed: JsonObject | null): JsonObject {
  const updatedInput = changed === null ? {} : { updatedInput: changed };
  return decided({ permissionDecision: 'allow', ...updatedInput });
}

function deny(reason: string): JsonObject {
  return decided({ permissionDecision: 'deny', permissionDecisionReason: reason });
}

function decisionIn({ hookSpecificOutput: decision }: JsonObject): HookDecision | null {
  if (!isJsonObject(decision) || decision['hookEventName'] !== 'PreToolUse') return null;
  if (decision['permissionDecision'] === 'allow') return allowed(decision['updatedInput']);
  const isDenied = decision['permissionDecision'] === 'deny';
  return isDenied ? denied(decision['permissionDecisionReason']) : null;
}

function decided(decision: JsonObject): JsonObject {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } };
}
