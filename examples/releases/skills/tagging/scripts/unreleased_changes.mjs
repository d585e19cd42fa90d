import { nextVersion, readChangelog } from './changelog.mjs';
import { run } from './run.mjs';

await run(async () => {
  const { last, changes } = await readChangelog();
  return { last, next: changes === '' ? null : nextVersion(last, changes), changes };
});
