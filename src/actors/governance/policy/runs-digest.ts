import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Tool } from '../../ports.ts';

/** Digests everything that decides what a call of a tool does besides its arguments, as it is now. Rejects as the tool does. */
export async function runsDigest(tool: Tool): Promise<string> {
  const { name, description, parameters } = tool;
  const runs = (await tool.identity?.()) ?? { description, parameters };
  return hash('sha256', canonicalize({ tool: name, runs }) ?? '', 'hex');
}
