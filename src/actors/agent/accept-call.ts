import { isJsonObject, type JsonValue } from '../../machines/json.ts';
import type { ToolCall } from '../../machines/task/task.ts';
import { wellFormed } from '../../machines/text.ts';
import { argumentsDigest } from '../policy/arguments-digest.ts';
import type { Ids } from '../ports.ts';
import { argumentFault } from './argument-fault.ts';

/**
 * Turns what was asked for into a call with its id and digest. Arguments that cannot be taken are left
 * out and said to be at fault, so that the call is denied and not lost.
 */
export function acceptCall(
  { tool, args: given }: { tool: string; args: JsonValue },
  ids: Ids,
): ToolCall {
  const fault = argumentFault(tool, given);
  const args = fault === null && isJsonObject(given) ? wellFormed(given) : {};
  const call = { id: ids.next(), tool, args, argsSha256: argumentsDigest(args) };
  return fault === null ? call : { ...call, fault };
}
