import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { join } from 'node:path';
import * as restate from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { freePort } from '../free-port.ts';
import { serve } from '../serve-runs.ts';

await serve(async ({ directory, server }) => {
  let toolRuns = 0;
  const waits = new Map();
  const held = restate.workflow({
    name: 'held',
    handlers: {
      run: async (ctx) => {
        const approved = ctx.promise('approval').get();
        waits.get(ctx.key)?.();
        if (!(await approved)) return 'refused';
        return ctx.run('tool', () => {
          toolRuns += 1;
          return 'done';
        });
      },
      approve: (ctx) => ctx.promise('approval').resolve(true),
    },
  });

  const kept = join(directory, 'port');
  const port = existsSync(kept) ? Number(readFileSync(kept, 'utf8')) : await freePort();
  writeFileSync(kept, String(port));
  const handler = restate.createEndpointHandler({ services: [held], logger: () => undefined });
  // Not `serve`, which listens for everybody.
  await once(createServer(handler).listen(port, '127.0.0.1'), 'listening');
  const registered = await fetch(`http://${server.admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
  });
  if (!registered.ok) throw new Error(`registration: ${await registered.text()}`);
  const ingress = connect({ url: `http://${server.ingress}` });
  const runOf = (id) => ingress.workflowClient({ name: 'held' }, id);

  return {
    toolRuns: () => toolRuns,
    async park() {
      const id = randomUUID();
      const isWaiting = new Promise((resolve) => waits.set(id, resolve));
      await runOf(id).workflowSubmit({});
      await isWaiting;
      waits.delete(id);
      return id;
    },
    async approve(id) {
      await runOf(id).approve({});
      const result = await runOf(id).workflowAttach();
      if (result !== 'done') throw new Error(`${id} did not complete: ${result}`);
    },
  };
});
