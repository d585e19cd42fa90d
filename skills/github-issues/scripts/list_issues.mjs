import { askGitHub, asLine } from './github.mjs';
import { run } from './run.mjs';

await run(async ({ repository, state = 'open', labels, limit = 20 }) => {
  const query = { state, per_page: '100', ...(labels === undefined ? {} : { labels }) };
  const found = await askGitHub(repository, ['issues'], { query });
  // GitHub lists pull requests among the issues.
  const issues = found.filter(({ pull_request: pull }) => pull === undefined);
  return { repository, issues: issues.slice(0, limit).map(asLine), more: issues.length > limit };
});
