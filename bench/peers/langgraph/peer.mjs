import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { serve } from '../serve-runs.ts';

// Not `fromConnString`, which leaves no way to set how durable a commit is.
const Database = createRequire(import.meta.url)('better-sqlite3');

await serve(async ({ directory, isFull }) => {
  const database = new Database(join(directory, 'langgraph.db'));
  const checkpointer = new SqliteSaver(database);
  checkpointer.setup();
  database.pragma(`synchronous=${isFull ? 'FULL' : 'NORMAL'}`);

  let toolRuns = 0;
  const graph = new StateGraph(
    Annotation.Root({ text: Annotation, approved: Annotation, result: Annotation }),
  )
    .addNode('approval', () => ({ approved: interrupt({ tool: 'noop' }) }))
    .addNode('tool', () => {
      toolRuns += 1;
      return { result: 'done' };
    })
    .addEdge(START, 'approval')
    .addEdge('approval', 'tool')
    .addEdge('tool', END)
    .compile({ checkpointer });

  const configOf = (id) => ({ configurable: { thread_id: id }, durability: 'sync' });
  return {
    toolRuns: () => toolRuns,
    async park() {
      const id = randomUUID();
      const state = await graph.invoke({ text: 'go' }, configOf(id));
      if (state.__interrupt__ === undefined) throw new Error(`${id} does not wait`);
      return id;
    },
    async approve(id) {
      const state = await graph.invoke(new Command({ resume: true }), configOf(id));
      if (state.result !== 'done') throw new Error(`${id} did not complete`);
    },
  };
});
