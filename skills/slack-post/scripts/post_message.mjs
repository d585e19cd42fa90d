import { addressOf, askJson } from './http.mjs';
import { run, variable } from './run.mjs';

await run(async ({ channel, text, thread }) => {
  const url = addressOf(process.env.SLACK_API_URL || 'https://slack.com/api', 'chat.postMessage');
  const answer = await askJson(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${variable('SLACK_POST_TOKEN')}`,
      'content-type': 'application/json; charset=utf-8',
    },
    json: {
      channel,
      text,
      unfurl_links: false,
      ...(thread === undefined ? {} : { thread_ts: thread }),
    },
  });
  if (answer?.ok !== true)
    throw new Error(`Slack refused the message: ${answer?.error ?? 'no reason'}`);
  return { channel: answer.channel, ts: answer.ts };
});
