import { globSync } from 'node:fs';

/** What Holdpoint exists for: its charts, what governs calls, its log, and what it reaches. */
const mutated = [
  'machines',
  'machines/*/',
  'actors/governance/*/',
  'actors/records/{log,sinks}',
  'actors/outbound/egress',
];

/** Returns the folders whose sources are changed, below `src`; each has its mirror below `test`. */
export function mutatedFolders(): string[] {
  return mutated.flatMap((glob) =>
    globSync(glob, { cwd: 'src' })
      .map((folder) => folder.replace(/\/$/, ''))
      .toSorted((one, other) => one.localeCompare(other)),
  );
}
