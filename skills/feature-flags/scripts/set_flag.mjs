import { run } from './run.mjs';
import { askUnleash } from './unleash.mjs';

await run(async ({ project = 'default', flag, environment, enabled }) => {
  const turn = enabled ? 'on' : 'off';
  await askUnleash(project, ['features', flag, 'environments', environment, turn], {
    method: 'POST',
    json: {},
  });
  return { project, flag, environment, enabled };
});
