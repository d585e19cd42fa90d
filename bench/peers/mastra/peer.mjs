import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { serve } from '../serve-runs.ts';

await serve(async ({ directory }) => {
  const text = z.object({ text: z.string() });
  let toolRuns = 0;
  const approval = createStep({
    id: 'approval',
    inputSchema: text,
    outputSchema: text,
    resumeSchema: z.object({ approved: z.boolean() }),
    execute: ({ inputData, resumeData, suspend }) =>
      resumeData?.approved === true ? inputData : suspend({}),
  });
  const tool = createStep({
    id: 'tool',
    inputSchema: text,
    outputSchema: text,
    execute: () => {
      toolRuns += 1;
      return { text: 'done' };
    },
  });
  const held = createWorkflow({ id: 'held', inputSchema: text, outputSchema: text })
    .then(approval)
    .then(tool)
    .commit();
  const storage = new LibSQLStore({ id: 'bench', url: `file:${join(directory, 'mastra.db')}` });
  const workflow = new Mastra({ workflows: { held }, storage, logger: false }).getWorkflow('held');
  await storage.init();
  await commitFully(storage.client);

  return {
    toolRuns: () => toolRuns,
    async park() {
      const run = await workflow.createRun();
      const { status } = await run.start({ inputData: { text: 'go' } });
      if (status !== 'suspended') throw new Error(`${run.runId} does not wait: ${status}`);
      return run.runId;
    },
    async approve(id) {
      const run = await workflow.createRun({ runId: id });
      const { status } = await run.resume({ step: 'approval', resumeData: { approved: true } });
      if (status !== 'success') throw new Error(`${id} did not complete: ${status}`);
    },
  };
});

/**
 * The store sets `synchronous=NORMAL` on the connection it opens first, and leaves the others of its client as they are. Those
 * are twenty at most, and as many statements at the same moment reach each of them.
 */
async function commitFully(client) {
  const onEach = (sql) => Promise.all(Array.from({ length: 20 }, () => client.execute(sql)));
  await onEach('PRAGMA synchronous=FULL');
  const settings = await onEach('PRAGMA synchronous');
  if (settings.some(({ rows }) => rows[0].synchronous !== 2))
    throw new Error('not synchronous=FULL');
}
