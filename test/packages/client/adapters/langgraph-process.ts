import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { guardTool } from '../../../../packages/client/adapters/langchain.ts';
import { createGate } from '../../../../packages/client/client.ts';

/** The checkpointer of LangGraph, with its contents in a file, so that they survive the process. */
class FileSaver extends MemorySaver {
  readonly #path: string;

  constructor(path: string) {
    super();
    this.#path = path;
    if (existsSync(path)) Object.assign(this, JSON.parse(readFileSync(path, 'utf8'), revived));
  }

  override async put(...given: Parameters<MemorySaver['put']>) {
    const stored = await super.put(...given);
    this.#save();
    return stored;
  }

  override async putWrites(...given: Parameters<MemorySaver['putWrites']>) {
    await super.putWrites(...given);
    this.#save();
  }

  #save(): void {
    const { storage, writes } = this;
    writeFileSync(this.#path, JSON.stringify({ storage, writes }, kept));
  }
}

function kept(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
}

function revived(_: string, value: any): unknown {
  const isBytes = typeof value?.bytes === 'string' && Object.keys(value).length === 1;
  return isBytes ? new Uint8Array(Buffer.from(value.bytes, 'base64')) : value;
}

const [url = '', path = '', ran = ''] = process.argv.slice(2);
const bash = tool(
  async ({ command }) => {
    appendFileSync(ran, `${command}\n`);
    return `ran ${command}`;
  },
  { name: 'Bash', description: 'Runs it.', schema: z.object({ command: z.string() }) },
);
const graph = new StateGraph(MessagesAnnotation)
  .addNode('tools', new ToolNode([guardTool(createGate({ url }), bash)]))
  .addEdge('__start__', 'tools')
  .compile({ checkpointer: new FileSaver(path) });
const thread = { configurable: { thread_id: 'thread-1' } };
const calls = [
  { name: 'Bash', args: { command: 'rm -rf build' }, id: 'call-1', type: 'tool_call' as const },
];
const first = { messages: [new AIMessage({ content: '', tool_calls: calls })] };
const begun = (await graph.getState(thread)).next.length > 0;
const state = await graph.invoke(begun ? null : first, thread);
process.stdout.write(`${String(state.messages.at(-1)?.content)}\n`);
