import {
  type AgentText,
  type ChangedConfig,
  type CheckConfig,
  planConfig,
  writeChangedConfig,
} from './change-config.ts';
import { valueOf, type YamlEdit } from './edit-yaml.ts';
import { fieldsOf, textsOf } from './rules-in.ts';

const path = ['egress', 'allowed_domains'];

/** Returns the additions of hosts to the allowlist of a `service.yaml`, without hosts already listed. */
function egressAdditions(
  content: string,
  domains: readonly string[],
  origin: string,
): { added: string[]; additions: YamlEdit[] } {
  const listed = listedDomains(content);
  const added = [...new Set(domains.map((domain) => domain.trim()))].filter(
    (domain) => !listed.some((entry) => covers(entry, domain)),
  );
  const comment = origin.replaceAll(/[^\w .:/-]/g, '').trim();
  const addition = { kind: 'append', path, items: added, comment } as const;
  return { added, additions: added.length === 0 ? [] : [addition] };
}

/**
 * Merges hosts into `egress.allowed_domains` of an agent's `service.yaml`, preserves its comments and style, and
 * returns the new hosts with the text before and after. `origin`, such as `skill refunds`, is added to each as a
 * comment. On a ConfigFileError nothing was written.
 */
export async function mergeEgress(
  text: AgentText,
  domains: readonly string[],
  origin: string,
  check: CheckConfig,
): Promise<ChangedConfig & { added: string[] }> {
  const { added, additions } = egressAdditions(text.content, domains, origin);
  const changed = planConfig(text, additions);
  await writeChangedConfig(changed, check);
  return { ...changed, added };
}

function listedDomains(content: string): string[] {
  try {
    const { egress } = fieldsOf(valueOf(content));
    return textsOf(fieldsOf(egress)['allowed_domains']);
  } catch {
    // An invalid text is reported when it is changed.
    return [];
  }
}

function covers(entry: string, domain: string): boolean {
  const [listed, wanted] = [entry.toLowerCase(), domain.toLowerCase()];
  return listed === wanted || (listed.startsWith('*.') && wanted.endsWith(listed.slice(1)));
}
