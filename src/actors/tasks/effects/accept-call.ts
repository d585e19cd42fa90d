import { isJsonObject, type JsonValue } from '../../../machines/json.ts';
import type { ToolCall } from '../../../machines/task/task.ts';
import { cutToRunes, wellFormed } from '../../../machines/text.ts';
import { argumentsDigest } from '../../governance/governance.ts';
import type { Ids } from '../../ports.ts';
import { argumentFault } from './argument-fault.ts';

/** The longest name that is repeated to a caller, in code points; no tool has a longer one. */
const longestName = 128;

/**
 * Turns what a model asked for into a call with its id and digest. A name is cut and made well-formed.
 * Arguments that cannot be taken are left out and said to be at fault, so that the call is denied and
 * not lost.
 */
export function acceptCall(
  { tool: asked, args: given }: { tool: string; args: JsonValue },
  ids: Ids,
): ToolCall {
  const tool = typeof asked === 'string' ? cutToRunes(asked, longestName) : 'unnamed';
  const fault = argumentFault(tool, given);
  const args = fault === null && isJsonObject(given) ? wellFormed(given) : {};
  const call = { id: ids.next(), tool, args, argsSha256: argumentsDigest(args) };
  return fault === null ? call : { ...call, fault };
}
