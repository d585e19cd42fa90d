import type { JsonObject } from '../../machines/json.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import {
  allowed,
  argsOf,
  type Dialect,
  denied,
  exitBlocked,
  folderOf,
  type HookEvent,
  textOf,
  unknownEvent,
} from './hook-event.ts';

/**
 * The events of the plugin that `guard install opencode` writes, from `tool.execute.before` and `tool.execute.after`
 * (https://opencode.ai/docs/plugins). The plugin throws unless `decision` is `allow`.
 */
const opencode: Dialect = {
  read,
  allow: (changed) => ({ decision: 'allow', ...(changed === null ? {} : { args: changed }) }),
  deny: (reason) => ({ decision: 'deny', reason }),
  decisionIn: ({ decision, args, reason }) =>
    decision === 'allow' ? allowed(args) : decision === 'deny' ? denied(reason) : null,
  block: exitBlocked,
};

const before = 'tool.execute.before';

function read(event: JsonObject): HookEvent {
  const name = textOf(event, 'event');
  if (name !== before && name !== 'tool.execute.after') throw unknownEvent(name);
  const ids = { session: textOf(event, 'sessionID'), callId: textOf(event, 'callID') };
  if (name === before) {
    const [tool, args] = [textOf(event, 'tool'), argsOf(event, 'args')];
    const cwd = folderOf(event, tool === 'bash' ? args['workdir'] : undefined);
    return { kind: 'call', ...ids, tool, args, mayChange: true, cwd, context: {} };
  }
  const output = event['output'];
  const stated = output === undefined ? {} : { result: output };
  return { kind: 'outcome', ...ids, status: 'succeeded', ...stated };
}

/** The coding agents whose hooks a gate answers, by the name in commands and routes. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['claude-code', claudeCode],
  ['codex', codex],
  ['cursor', cursor],
  ['copilot', copilot],
  ['opencode', opencode],
]);
