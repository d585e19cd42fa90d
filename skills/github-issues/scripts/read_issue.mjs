import { askGitHub, asLine } from './github.mjs';
import { run } from './run.mjs';

/** Characters of one text that are shown. */
const longest = 8_000;

await run(async ({ repository, number }) => {
  const issue = await askGitHub(repository, ['issues', String(number)]);
  const page = String(Math.max(1, Math.ceil((issue.comments ?? 0) / 30)));
  const comments = await askGitHub(repository, ['issues', String(number), 'comments'], {
    query: { per_page: '30', page },
  });
  return {
    ...asLine(issue),
    text: (issue.body ?? '').slice(0, longest),
    latest_comments: comments.map(({ user, body, created_at }) => ({
      ...{ author: user?.login ?? null, created_at, text: (body ?? '').slice(0, longest) },
    })),
  };
});
