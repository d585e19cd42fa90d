import { DBOS } from '@dbos-inc/dbos-sdk';
import { serveHolds } from '../serve-holds.ts';

const inputSchema = {
  parse([call]) {
    if (call.args?.constructor !== Object) throw new Error('args must be an object');
    return [call];
  },
};

// A recovered workflow is ENQUEUED; one whose input does not fit its schema is ERROR.
const statuses = {
  ...{ PENDING: 'pending', ENQUEUED: 'pending' },
  ...{ CANCELLED: 'cancelled', ERROR: 'denied' },
};

await serveHolds(async ({ server, run }) => {
  const held = DBOS.registerWorkflow(
    async ({ args, seconds }) => {
      const decision = await DBOS.recv('decision', seconds);
      if (decision === null) return { status: 'expired' };
      const { by: approver, note } = decision;
      if (decision.decision !== 'approve') return { status: 'rejected', approver, note };
      const tool = async () => run(DBOS.workflowID, decision.args ?? args);
      await DBOS.runStep(tool, { name: 'tool' });
      return { status: 'approved', approver, note };
    },
    { name: 'held', inputSchema },
  );
  DBOS.setConfig({ name: 'holds', systemDatabaseUrl: server.url, logLevel: 'error' });
  await DBOS.launch();
  return {
    ask: ({ key, tool, args, soon }) =>
      DBOS.startWorkflow(held, { workflowID: key })({ tool, args, seconds: soon ? 2 : 86_400 }),
    async read(id) {
      const found = await DBOS.getWorkflowStatus(id);
      if (found === null) return undefined;
      if (found.status !== 'SUCCESS') return { status: statuses[found.status] ?? found.status };
      return DBOS.getResult(id);
    },
    waiting: async () =>
      (await DBOS.listWorkflows({ status: ['PENDING', 'ENQUEUED'], loadInput: true })).map(
        ({ workflowID: id, input: [call] }) => ({ id, tool: call.tool, args: call.args }),
      ),
    decide: (id, decision) => DBOS.send(id, decision, 'decision'),
    cancel: (id) => DBOS.cancelWorkflow(id),
    close: () => DBOS.shutdown(),
  };
});
