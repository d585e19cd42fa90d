import type { JsonObject } from '../../machines/json.ts';
import {
  allowed,
  argsOf,
  contextOf,
  type Dialect,
  denied,
  exitBlocked,
  folderOf,
  type HookEvent,
  optionalText,
  textOf,
  unknownEvent,
} from './hook-event.ts';

/**
 * The hooks of Cursor (https://cursor.com/docs/hooks): `permission`, exit code 2 blocks. Only `preToolUse` has a call id
 * and accepts changed arguments. The form comes from documents; no version of Cursor was run.
 */
export const cursor: Dialect = {
  read,
  allow: (changed) => ({
    permission: 'allow',
    ...(changed === null ? {} : { updated_input: changed }),
  }),
  deny: (reason) => ({ permission: 'deny', user_message: reason, agent_message: reason }),
  decisionIn: ({ permission, updated_input: changed, agent_message: reason }) =>
    permission === 'allow' ? allowed(changed) : permission === 'deny' ? denied(reason) : null,
  block: exitBlocked,
};

function read(event: JsonObject): HookEvent {
  const name = textOf(event, 'hook_event_name');
  const session = textOf(event, 'conversation_id');
  const ids = { session, callId: optionalText(event, 'tool_use_id') };
  const context = contextOf(event, ['model', 'generation_id']);
  const cwd = folderOf(event);
  switch (name) {
    case 'preToolUse': {
      const [tool, args] = [textOf(event, 'tool_name'), argsOf(event, 'tool_input')];
      const named = tool === 'Shell' ? args['working_directory'] : undefined;
      const at = folderOf(event, named);
      return { kind: 'call', ...ids, tool, args, mayChange: true, cwd: at, context };
    }
    case 'beforeShellExecution':
      return {
        ...{ kind: 'call', ...ids, tool: 'Shell', args: { command: textOf(event, 'command') } },
        ...{ mayChange: false, cwd, context },
      };
    case 'beforeMCPExecution': {
      const tool = `MCP:${textOf(event, 'tool_name')}`;
      const args = argsOf(event, 'tool_input');
      return { kind: 'call', ...ids, tool, args, mayChange: false, cwd, context };
    }
    case 'postToolUse':
      return { kind: 'outcome', ...ids, status: 'succeeded', ...resultOf(event, 'tool_output') };
    case 'postToolUseFailure':
      return { kind: 'outcome', ...ids, status: 'failed' };
    case 'afterShellExecution':
      return { kind: 'outcome', ...ids, status: 'succeeded', ...resultOf(event, 'output') };
    case 'afterMCPExecution':
      return { kind: 'outcome', ...ids, status: 'succeeded', ...resultOf(event, 'result_json') };
    default:
      throw unknownEvent(name);
  }
}

function resultOf(event: JsonObject, name: string) {
  const result = event[name];
  return result === undefined ? {} : { result };
}
