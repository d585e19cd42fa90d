import type { Finding, Path } from './problem.ts';
import type { ServiceConfig } from './schema.ts';

/** Warns of a layer that lists tools and is off because `enabled` was left out. */
export function checkSwitches(
  { security }: ServiceConfig,
  isWritten: (path: Path) => boolean,
): Finding[] {
  const layers = ['step_up', 'modify', 'defer'] as const;
  return layers
    .filter((layer) => Object.keys(security[layer].tools).length > 0)
    .map((layer) => ['security', layer, 'enabled'])
    .filter((path) => !isWritten(path))
    .map((path) => ({
      path,
      message: `${path.join('.')} is missing, so its tools are not guarded; add enabled: true, or false if that is meant`,
      severity: 'warning',
    }));
}
