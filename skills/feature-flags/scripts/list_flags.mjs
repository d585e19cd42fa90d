import { run } from './run.mjs';
import { askUnleash } from './unleash.mjs';

await run(async ({ project = 'default', search = '' }) => {
  const { features = [] } = await askUnleash(project, ['features']);
  const wanted = search.toLowerCase();
  const found = features.filter(({ name }) => name.toLowerCase().includes(wanted));
  const flags = found.slice(0, 200).map(({ name, type, stale, environments = [] }) => ({
    ...{ name, type, stale },
    on_in: environments.filter(({ enabled }) => enabled).map((environment) => environment.name),
  }));
  return { project, flags, more: found.length > flags.length };
});
