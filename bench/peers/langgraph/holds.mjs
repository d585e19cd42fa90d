import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { z } from 'zod';
import { serveHolds } from '../serve-holds.ts';

const Database = createRequire(import.meta.url)('better-sqlite3');

const State = z.object({
  args: z.record(z.string(), z.unknown()),
  tool: z.string(),
  decision: z.any().optional(),
});

await serveHolds(async ({ directory, run }) => {
  const database = new Database(join(directory, 'langgraph.db'));
  const checkpointer = new SqliteSaver(database);
  checkpointer.setup();
  database.pragma('synchronous=FULL');
  const graph = new StateGraph(State)
    .addNode('approval', ({ tool, args }) => ({ decision: interrupt({ tool, args }) }))
    .addNode('run', ({ args, decision }, config) => {
      run(config.configurable.thread_id, decision.args ?? args);
      return {};
    })
    .addEdge(START, 'approval')
    .addConditionalEdges('approval', ({ decision }) =>
      decision.decision === 'approve' ? 'run' : END,
    )
    .addEdge('run', END)
    .compile({ checkpointer });
  const threadOf = (id) => ({ configurable: { thread_id: id }, durability: 'sync' });
  const read = async (id) => {
    const { values, tasks } = await graph.getState(threadOf(id));
    if (values.tool === undefined) return undefined;
    if (tasks.some(({ interrupts }) => interrupts.length > 0)) return { status: 'pending' };
    const { decision, by: approver, note } = values.decision ?? {};
    return { status: decision === 'approve' ? 'approved' : 'rejected', approver, note };
  };
  return {
    // A thread that exists is not invoked again, since that would start it anew.
    ask: async ({ key, tool, args }) =>
      (await read(key)) ?? graph.invoke({ tool, args }, threadOf(key)),
    read,
    decide: (id, decision) => graph.invoke(new Command({ resume: decision }), threadOf(id)),
  };
});
