import { type RuledAs, ruledAs, type WaitingCall } from '../../../machines/governance/ruled-as.ts';
import type { Tool } from '../../ports/tool.ts';
import type { Policies } from './policies.ts';
import { definitionDigest, runsDigest, runsDigestNow } from './runs-digest.ts';

interface InForce {
  policies: Policies;
  tools: ReadonlyMap<string, Tool>;
}

/**
 * Returns whether a new ruling on a waiting call could only be the stored one: the policy, the tool and what would run
 * are the same, and no rule of the tool reads anything but the arguments. False if that is not known at once.
 */
export function stillRuled(waiting: WaitingCall, inForce: InForce): boolean {
  const made = ruledAs(waiting);
  const tool = made && sameTool(made, inForce);
  if (made === null || tool === null) return false;
  const { runsSha256 } = made;
  return runsSha256 === null || runsSha256 === runsDigestNow(tool, inForce.policies.current.policy);
}

/** Returns whether new rulings on the calls of a stored ruling could only be the same; `made` is its JSON. */
export async function wouldRuleAgain(made: string, inForce: InForce): Promise<boolean> {
  try {
    const ruled = JSON.parse(made) as RuledAs;
    const tool = sameTool(ruled, inForce);
    if (tool === null || ruled.runsSha256 === null) return tool !== null;
    return ruled.runsSha256 === (await runsDigest(tool, inForce.policies.current.policy));
  } catch {
    // The calls of a tool that cannot be read are ruled on.
    return false;
  }
}

/** Returns the tool of a ruling; `null` if it, its rules or the policy are not those of the ruling. */
function sameTool(
  { policySha256, tool: name, offered, isElsewhere }: RuledAs,
  { policies, tools }: InForce,
): Tool | null {
  const { sha256, policy } = policies.current;
  const tool = tools.get(name);
  const isSame =
    tool !== undefined &&
    policySha256 === sha256 &&
    (tool.isElsewhere ?? false) === isElsewhere &&
    offered === definitionDigest(tool) &&
    policy.isFixed(name);
  return isSame ? tool : null;
}
