import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import {
  allowed,
  argsOf,
  type Dialect,
  denied,
  folderOf,
  type HookAnswer,
  type HookEvent,
  optionalText,
  textOf,
  unknownEvent,
} from './hook-event.ts';

/**
 * The hooks of GitHub Copilot CLI (https://docs.github.com/en/copilot/reference/hooks-reference). An event has no name:
 * `toolResult` marks the end of a call. Only `deny` is documented as binding, so arguments are never changed.
 */
export const copilot: Dialect = {
  read,
  allow: () => ({ permissionDecision: 'allow' }),
  deny,
  decisionIn: ({ permissionDecision: decision, permissionDecisionReason: reason }) =>
    decision === 'allow' ? allowed(undefined) : decision === 'deny' ? denied(reason) : null,
  block,
};

/** The session of versions that send no `sessionId`; their calls have an identity of their own. */
const unnamedSession = 'copilot';

function read(event: JsonObject): HookEvent {
  const session = optionalText(event, 'sessionId') ?? unnamedSession;
  const ids = { session, callId: optionalText(event, 'toolCallId') };
  if (event['toolName'] === undefined) throw unknownEvent('without toolName');
  const tool = textOf(event, 'toolName');
  const result = event['toolResult'];
  if (result === undefined) {
    const args = argsOf(event, 'toolArgs');
    const cwd = folderOf(event);
    return { kind: 'call', ...ids, tool, args, mayChange: false, cwd, context: {} };
  }
  const kind = isJsonObject(result) ? result['resultType'] : undefined;
  const status = kind === 'success' ? 'succeeded' : kind === 'denied' ? 'not_run' : 'failed';
  return { kind: 'outcome', ...ids, status, result };
}

function deny(reason: string): JsonObject {
  return { permissionDecision: 'deny', permissionDecisionReason: reason };
}

function block(reason: string): HookAnswer {
  return { stdout: `${JSON.stringify(deny(reason))}\n`, stderr: `${reason}\n`, exitCode: 0 };
}
