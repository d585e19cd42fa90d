import { approve, openSystem, park } from '../in-process.ts';
import { serve } from './serve-runs.ts';

await serve(async ({ directory }) => {
  let toolRuns = 0;
  const system = await openSystem(directory, () => {
    toolRuns += 1;
  });
  return {
    toolRuns: () => toolRuns,
    park: () => park(system),
    approve: (id) => approve(system, id),
  };
});
