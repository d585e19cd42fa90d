import { type Finding, type Path, warningAt } from './config-problem.ts';
import { valueAt } from './partial-config.ts';
import type { Tree } from './read-tree.ts';

const guardrails: Path = ['security', 'guardrails'];

/** Warns about a layer that lists tools or rules but is off because `enabled` is missing. */
export function checkSwitches({ value, isWritten }: Pick<Tree, 'value' | 'isWritten'>): Finding[] {
  const layers = ['step_up', 'modify', 'defer'];
  const sizeAt = (path: Path) => Object.keys(valueAt(value, path) ?? {}).length;
  const idle = [
    ...layers
      .filter((layer) => sizeAt(['security', layer, 'tools']) > 0)
      .map((layer) => ({ layer, what: 'its tools are not guarded' })),
    ...(Object.keys(valueAt(value, guardrails) ?? {}).some(
      (list) => sizeAt([...guardrails, list]) > 0,
    )
      ? [{ layer: 'guardrails', what: 'its rules have no effect' }]
      : []),
  ];
  return idle
    .map(({ layer, what }) => ({ path: ['security', layer, 'enabled'], what }))
    .filter(({ path }) => !isWritten(path))
    .map(({ path, what }) =>
      warningAt(
        path,
        `${path.join('.')} is missing, so ${what}; add enabled: true, or false if that is meant`,
      ),
    );
}
