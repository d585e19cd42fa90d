import { isJsonObject } from '../../../machines/json.ts';
import type { CutReason, ToolCall } from '../../../machines/task/task.ts';
import { cutToRunes, wellFormed } from '../../../machines/text.ts';
import { argumentsDigest } from '../../governance/governance.ts';
import type { AskedCall, Ids } from '../../ports.ts';
import { argumentFault } from './argument-fault.ts';

/** The longest name that is repeated to a caller, in code points; no tool has a longer one. */
const longestName = 128;

/**
 * Turns what a model asked for into a call with its id and digest. A name is cut and made well-formed.
 * Arguments that cannot be taken are left out and said to be at fault, so that the call is denied and
 * not lost, as is every call of a turn that the provider cut.
 */
export function acceptCall(
  { tool: asked, args: given, written }: AskedCall,
  ids: Ids,
  cut?: CutReason,
): ToolCall {
  const tool = typeof asked === 'string' ? cutToRunes(asked, longestName) : 'unnamed';
  const fault = cut === undefined ? argumentFault(tool, given, written) : cutFault(tool, cut);
  const args = fault === null && isJsonObject(given) ? wellFormed(given) : {};
  const call = { id: ids.next(), tool, args, argsSha256: argumentsDigest(args) };
  return fault === null ? call : { ...call, fault };
}

/** The provider itself says that its turn is not whole, so a call that looks whole may not be. */
function cutFault(tool: string, cut: CutReason): string {
  const by = cut === 'length' ? 'its limit of length' : 'a content filter';
  return `${tool} was not run, as the answer that asked for it was cut off by ${by}; ask again with less`;
}
