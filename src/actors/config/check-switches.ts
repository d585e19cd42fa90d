import type { Finding, Path } from './problem.ts';
import type { ServiceConfig } from './schema.ts';

/** Warns of a layer that lists tools or rules and is off because `enabled` was left out. */
export function checkSwitches(
  { security }: ServiceConfig,
  isWritten: (path: Path) => boolean,
): Finding[] {
  const layers = ['step_up', 'modify', 'defer'] as const;
  const { enabled: _, ...lists } = security.guardrails;
  const idle = [
    ...layers
      .filter((layer) => Object.keys(security[layer].tools).length > 0)
      .map((layer) => ({ layer, what: 'its tools are not guarded' })),
    ...(Object.values(lists).some((list) => list.length > 0)
      ? [{ layer: 'guardrails', what: 'its rules hold nothing back' }]
      : []),
  ];
  return idle
    .map(({ layer, what }) => ({ path: ['security', layer, 'enabled'], what }))
    .filter(({ path }) => !isWritten(path))
    .map(({ path, what }) => ({
      path,
      message: `${path.join('.')} is missing, so ${what}; add enabled: true, or false if that is meant`,
      severity: 'warning',
    }));
}
