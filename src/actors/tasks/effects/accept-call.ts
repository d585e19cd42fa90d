import type { CutReason, ToolCall } from '../../../machines/domain/task.ts';
import { isJsonObject } from '../../../machines/json.ts';
import { cutToRunes, wellFormed } from '../../../machines/text.ts';
import { argsDigest } from '../../governance/governance.ts';
import type { Ids } from '../../ports/ids.ts';
import type { AskedCall } from '../../ports/model.ts';
import { argumentFault } from './argument-fault.ts';

/** Maximum code points of a tool name repeated to a caller; no tool has a longer name. */
const longestName = 128;

/**
 * Converts a model's request to a call with id and digest. The name is truncated and made well-formed. Invalid
 * arguments are dropped and the call marked as faulty, so that it is denied rather than lost; the same applies to every
 * call of a turn that the provider truncated.
 */
export function acceptCall(
  { tool: asked, args: given, written }: AskedCall,
  ids: Ids,
  cut?: CutReason,
): ToolCall {
  const tool = typeof asked === 'string' ? cutToRunes(asked, longestName) : 'unnamed';
  const fault = cut === undefined ? argumentFault(tool, given, written) : cutFault(tool, cut);
  const args = fault === null && isJsonObject(given) ? wellFormed(given) : {};
  const call = { id: ids.next(), tool, args, argsSha256: argsDigest(tool, args) };
  return fault === null ? call : { ...call, fault };
}

/** In a truncated turn even a call that looks complete may be incomplete. */
function cutFault(tool: string, cut: CutReason): string {
  const by = cut === 'length' ? 'its limit of length' : 'a content filter';
  return `${tool} was not run, since the model's answer was cut off by ${by}; request less at once`;
}
