import { askGitHub } from './github.mjs';
import { run } from './run.mjs';

await run(async ({ repository, number, text }) => {
  const comment = await askGitHub(repository, ['issues', String(number), 'comments'], {
    ...{ method: 'POST', json: { body: text } },
  });
  return { id: comment.id, url: comment.html_url };
});
