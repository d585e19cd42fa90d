import { join } from 'node:path';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { serveHolds } from '../serve-holds.ts';

const Call = z.object({ tool: z.string(), args: z.record(z.string(), z.unknown()) });
const Decision = z.object({ decision: z.enum(['approve', 'reject']) }).loose();

await serveHolds(async ({ directory, run }) => {
  const approval = createStep({
    ...{ id: 'approval', inputSchema: Call, outputSchema: z.any(), resumeSchema: Decision },
    execute: ({ inputData, resumeData, suspend }) =>
      resumeData === undefined ? suspend({}) : { ...inputData, ...resumeData },
  });
  const tool = createStep({
    ...{ id: 'tool', inputSchema: z.any(), outputSchema: z.any() },
    execute: ({ inputData, runId }) => {
      if (inputData.decision === 'approve') run(runId, inputData.args);
      return inputData;
    },
  });
  const held = createWorkflow({ id: 'held', inputSchema: Call, outputSchema: z.any() });
  held.then(approval).then(tool).commit();
  const storage = new LibSQLStore({ id: 'holds', url: `file:${join(directory, 'mastra.db')}` });
  const workflow = new Mastra({ workflows: { held }, storage, logger: false }).getWorkflow('held');
  await storage.init();
  const open = (runId) => workflow.createRun({ runId });
  const words = { suspended: 'pending', running: 'pending', canceled: 'cancelled' };
  const read = async (id) => {
    const { status, result } = (await workflow.getWorkflowRunById(id)) ?? {};
    if (status === undefined || status === 'pending') return undefined; // not started
    if (status !== 'success') return { status: words[status] ?? status };
    const { decision, by: approver, note } = result;
    return { status: decision === 'approve' ? 'approved' : 'rejected', approver, note };
  };
  return {
    ask: async (call) =>
      (await read(call.key)) ?? (await open(call.key)).start({ inputData: call }),
    read,
    async waiting() {
      const { runs } = await workflow.listWorkflowRuns({ status: 'suspended' });
      return runs.map(({ runId: id, snapshot }) => ({ id, ...snapshot.context.input }));
    },
    decide: async (id, resumeData) => (await open(id)).resume({ step: 'approval', resumeData }),
    cancel: async (id) => (await open(id)).cancel(),
  };
});
