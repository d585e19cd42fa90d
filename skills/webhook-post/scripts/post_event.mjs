import { createHmac } from 'node:crypto';
import { ask } from './http.mjs';
import { run, variable } from './run.mjs';

await run(async ({ type, data }) => {
  const url = URL.parse(variable('WEBHOOK_URL'));
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error('WEBHOOK_URL is not an http or https address');
  }
  const id = `msg_${variable('SERVICE_TOOL_CALL_ID')}`;
  const now = new Date();
  const body = JSON.stringify({ type, timestamp: now.toISOString(), data });
  const { status } = await ask(url, {
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json', ...signed(id, now, body) },
  });
  if (status < 200 || status > 299) throw new Error(`${url.host} answered ${status}`);
  return { id, status };
});

function signed(id, now, body) {
  const time = String(Math.floor(now.getTime() / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': time };
  const secret = process.env.WEBHOOK_SECRET ?? '';
  if (secret === '') return headers;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${digest}` };
}
