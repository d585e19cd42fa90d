import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Tool } from '../../ports.ts';
import type { Policy } from './policy.ts';

/** Digests everything that decides what a call of a tool does besides its arguments, as it is now. Rejects as the tool does. */
export async function runsDigest(
  tool: Tool,
  policy: Pick<Policy, 'credentialOf'>,
): Promise<string> {
  const { name, description, parameters } = tool;
  const runs = (await tool.identity?.()) ?? { description, parameters };
  const credential = policy.credentialOf(name);
  const identity = { tool: name, runs, ...(credential === null ? {} : { credential }) };
  return hash('sha256', canonicalize(identity) ?? '', 'hex');
}

/** Digests the definition of a tool as a model is offered it. */
export function definitionDigest({ description, parameters }: Tool): string {
  return hash('sha256', canonicalize({ description, parameters }) ?? '', 'hex');
}
