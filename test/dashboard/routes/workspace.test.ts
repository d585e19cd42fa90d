import { expect, it } from 'vitest';
import { AgentClient } from '../../helpers/agent-client.ts';
import { openHub } from '../../helpers/hub-server.ts';

it('a newer release is reported once it is known', async () => {
  let newer: string | null = null;
  const { url } = await openHub(() => newer);
  const client = new AgentClient(url, null);
  const about = { directory: expect.any(String), version: '0', token_required: false };
  expect((await client.get('/api/workspace')).body).toEqual(about);
  newer = '1.3.0';
  expect((await client.get('/api/workspace')).body).toEqual({ ...about, newer_release: newer });
});
