import { addressOf, askJson } from './http.mjs';
import { variable } from './run.mjs';

/** Asks GitHub for something of a repository. */
export function askGitHub(repository, parts, { query = {}, ...options } = {}) {
  const base = process.env.GITHUB_API_URL || 'https://api.github.com';
  const [owner, name] = repository.split('/');
  const url = addressOf(base, 'repos', owner, name, ...parts);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  return askJson(url, {
    ...options,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${variable('GITHUB_TOKEN')}`,
      'user-agent': 'holdpoint',
      'x-github-api-version': '2022-11-28',
    },
  });
}

/** What is said of an issue in a list. */
export function asLine({ number, title, state, user, labels, comments, updated_at, html_url }) {
  return {
    ...{ number, title, state, author: user?.login ?? null },
    labels: (labels ?? []).map(({ name }) => name),
    ...{ comments, updated_at, url: html_url },
  };
}
