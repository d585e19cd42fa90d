import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonValue } from '../../../machines/json.ts';
import type { Tool } from '../../ports/tool.ts';
import type { Policy } from './policy.ts';

/**
 * Returns a digest of everything that currently determines the effect of a tool's call, except its arguments. Rejects
 * like the tool.
 */
export async function runsDigest(
  tool: Tool,
  policy: Pick<Policy, 'credentialOf'>,
): Promise<string> {
  const { description, parameters } = tool;
  return digestOf(tool, (await tool.identity?.()) ?? { description, parameters }, policy);
}

/** Returns the digest of a tool without an identity of its own; `null` for any other tool. */
export function runsDigestNow(tool: Tool, policy: Pick<Policy, 'credentialOf'>): string | null {
  const { description, parameters } = tool;
  return tool.identity === undefined ? digestOf(tool, { description, parameters }, policy) : null;
}

function digestOf({ name }: Tool, runs: JsonValue, policy: Pick<Policy, 'credentialOf'>): string {
  const credential = policy.credentialOf(name);
  const identity = { tool: name, runs, ...(credential === null ? {} : { credential }) };
  return hash('sha256', canonicalize(identity) ?? '', 'hex');
}

/** Returns a digest of the tool definition that the model is offered. */
export function definitionDigest({ description, parameters }: Tool): string {
  return hash('sha256', canonicalize({ description, parameters }) ?? '', 'hex');
}
