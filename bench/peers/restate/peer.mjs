import { randomUUID } from 'node:crypto';
import * as restate from '@restatedev/restate-sdk';
import { serve } from '../serve-runs.ts';
import { serveWorkflow } from './endpoint.mjs';

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

  const { runOf } = await serveWorkflow(held, { directory, server });

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
