import type { Refusal } from '../../../machines/domain/finding.ts';
import type { ToolCall } from '../../../machines/domain/task.ts';
import type { Modification } from '../../../machines/governance/ruling.ts';
import type { Modify, ModifyEntryPlace } from '../modify/modify.ts';
import { argsDigest } from './args-digest.ts';
import { argumentChanges } from './argument-changes.ts';

/**
 * Rewrites the arguments of a call. The result must fit the tool's schema and pass the static denials again
 * (docs/contract/governance.md). Throws a ModifyError.
 */
export function modifyCall(
  call: ToolCall,
  modify: Modify,
  {
    refusalOf,
    scrub,
    entries,
  }: {
    refusalOf: (call: ToolCall) => Refusal | null;
    scrub: (text: string) => string;
    /** The entries that apply to the call. */
    entries: readonly ModifyEntryPlace[];
  },
): Modification {
  const { args, applied } = modify.modifyArguments(call.tool, call.args, entries);
  if (applied.length === 0) return { kind: 'unchanged' };
  const modified = { ...call, args, argsSha256: argsDigest(call.tool, args), asked: call.args };
  const refusal = refusalOf(modified);
  if (refusal === null) {
    const changes = argumentChanges(call.args, args, scrub);
    return { kind: 'modified', call: modified, rules: applied, changes };
  }
  const text = `MODIFY made arguments that may not run: ${refusal.text}`;
  return { kind: 'refused', refusal: { text, findings: refusal.findings } };
}
