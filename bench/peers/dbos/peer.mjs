import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve } from '../serve-runs.ts';

await serve(async ({ server }) => {
  let toolRuns = 0;
  let parked = 0;
  const waits = new Map();
  const handles = new Map();
  const tool = () => {
    toolRuns += 1;
    return Promise.resolve('done');
  };
  const workflow = DBOS.registerWorkflow(
    async () => {
      waits.get(DBOS.workflowID)?.();
      const approved = await DBOS.recv('approval', 86_400);
      return approved === true ? DBOS.runStep(tool, { name: 'tool' }) : 'refused';
    },
    { name: 'held' },
  );
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: server.url, logLevel: 'error' });
  await DBOS.launch();

  return {
    toolRuns: () => toolRuns,
    async park() {
      parked += 1;
      const workflowID = `${process.pid}-${parked}`;
      const isWaiting = new Promise((resolve) => waits.set(workflowID, resolve));
      handles.set(workflowID, await DBOS.startWorkflow(workflow, { workflowID })());
      await isWaiting;
      waits.delete(workflowID);
      return workflowID;
    },
    async approve(id) {
      // A workflow that another process started is asked for its result over and over.
      const handle = handles.get(id) ?? DBOS.retrieveWorkflow(id);
      await DBOS.send(id, true, 'approval');
      const result = await handle.getResult({ pollingIntervalMs: 20 });
      if (result !== 'done') throw new Error(`${id} did not complete: ${result}`);
      handles.delete(id);
    },
  };
});
