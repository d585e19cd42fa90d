import { parseConfig } from '../../src/actors/config/config.ts';
import { PolicyRules } from '../../src/actors/governance/policy/policy-rules.ts';
import { GateTools } from '../../src/actors/tools/tools.ts';
import { dialects } from '../../src/http/hooks/dialects.ts';
import type { JsonObject } from '../../src/machines/json.ts';

/** A call as a coding agent wants to run it, in the folder of its event. */
export interface HostCall {
  tool: string;
  args: JsonObject;
  cwd?: string;
}

/** Returns the event that a coding agent sends to its hook. */
function eventOf(host: string, { tool, args, cwd }: HostCall): JsonObject {
  const place = cwd === undefined ? {} : { cwd };
  switch (host) {
    case 'opencode':
      return {
        ...{ event: 'tool.execute.before', sessionID: 's', callID: 'c' },
        ...{ tool, args, ...place },
      };
    case 'copilot':
      return { sessionId: 's', toolName: tool, toolArgs: args, ...place };
    case 'cursor':
      return {
        ...{ hook_event_name: 'preToolUse', conversation_id: 's', tool_use_id: 'c' },
        ...{ tool_name: tool, tool_input: args, ...place },
      };
    default:
      return {
        ...{ hook_event_name: 'PreToolUse', session_id: 's', tool_use_id: 'c' },
        ...{ tool_name: tool, tool_input: args, ...place },
      };
  }
}

/** Returns whether calls run without a person under a `service.yaml`; `null` as the host is a program without a hook. */
export function rulingOf(service: string): (host: string | null, call: HostCall) => boolean {
  const loaded = parseConfig(service, { file: 'service.yaml', env: {} });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '));
  const { gate, security } = loaded.config;
  if (gate === undefined) throw new Error('the service is no gate');
  const tools = new GateTools(gate);
  const rules = new PolicyRules({ security, isAuthOn: false, tools, environment: {} });
  return (host, asked) => {
    const call = host === null ? null : dialects.get(host)?.read(eventOf(host, asked));
    if (call !== null && call?.kind !== 'call') throw new Error(`${host} has no such call`);
    const { tool, args, cwd = null } = call ?? asked;
    if (tools.isUnlisted(tool)) return gate.unknown === 'allow';
    if ((tools.get(tool)?.check?.(args) ?? null) !== null) return false;
    const origin = {
      ...(cwd === null ? {} : { cwd }),
      ...(host === null ? {} : { client: host }),
    };
    const task = { id: 't', surface: 'hold', session: 's', tags: {}, call: origin };
    const { refusal, defer } = rules.of({ tool, args }, { requester: null, task, ran: [], now: 0 });
    return refusal === null && defer === null;
  };
}
