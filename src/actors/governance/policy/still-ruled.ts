import type { Deferral, ToolCall } from '../../../machines/domain/task.ts';
import type { Tool } from '../../ports/tool.ts';
import type { Policies } from './policies.ts';
import { definitionDigest, runsDigestNow } from './runs-digest.ts';

interface HeldNow {
  call: ToolCall | undefined;
  deferral: Deferral | null;
  /** True if another program runs the call. */
  isElsewhere: boolean;
}

/**
 * Returns whether a new ruling on a held call could only be the stored one: the policy, the tool and what would run are
 * the same, and no rule of the tool reads anything but the arguments. False if that is not known at once.
 */
export function stillRuled(
  { call, deferral, isElsewhere }: HeldNow,
  { policies, tools }: { policies: Policies; tools: ReadonlyMap<string, Tool> },
): boolean {
  if (call === undefined || deferral === null || deferral.id !== call.id) return false;
  const { sha256, policy } = policies.current;
  const tool = tools.get(call.tool);
  return (
    tool !== undefined &&
    (tool.isElsewhere ?? false) === isElsewhere &&
    call.policySha256 === sha256 &&
    call.argsSha256 === deferral.argsSha256 &&
    call.offered === definitionDigest(tool) &&
    policy.isFixed(call.tool) &&
    deferral.runsSha256 !== undefined &&
    deferral.runsSha256 === (call.runsSha256 ?? runsDigestNow(tool, policy))
  );
}
