import { normalName } from '../tool-name.ts';
import { errorAt, type Finding } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks that no layer has two rules for one tool; hyphens and underscores in tool names are equivalent. */
export function checkRuleNames({ security }: ServiceConfig): Finding[] {
  return (['step_up', 'modify', 'defer'] as const).flatMap((layer) => {
    const { enabled, tools } = security[layer];
    const first = new Map<string, string>();
    return Object.keys(enabled ? tools : {}).flatMap((tool): Finding[] => {
      const earlier = first.get(normalName(tool));
      first.set(normalName(tool), earlier ?? tool);
      if (earlier === undefined) return [];
      const path = ['security', layer, 'tools', tool];
      const message = `${tool} and ${earlier} are one tool, as - and _ are one in its name; keep one of the two rules`;
      return [errorAt(path, message)];
    });
  });
}
