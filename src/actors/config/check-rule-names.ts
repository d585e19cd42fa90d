import { normalName } from '../tool-name.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks that no layer has two rules for one tool; hyphens and underscores in tool names are equivalent. */
export function checkRuleNames({ security }: ServiceConfig): Finding[] {
  const layers = (['step_up', 'modify', 'defer'] as const).flatMap((layer) => {
    const { enabled, tools } = security[layer];
    return repeatedTools(['security', layer, 'tools'], Object.keys(enabled ? tools : {}));
  });
  return [...layers, ...repeatedTools(['security', 'effects'], Object.keys(security.effects))];
}

function repeatedTools(root: Path, tools: readonly string[]): Finding[] {
  const first = new Map<string, string>();
  return tools.flatMap((tool): Finding[] => {
    const earlier = first.get(normalName(tool));
    first.set(normalName(tool), earlier ?? tool);
    if (earlier === undefined) return [];
    const message = `${tool} and ${earlier} are one tool, as - and _ are one in its name; keep one of the two rules`;
    return [errorAt([...root, tool], message)];
  });
}
