import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a host sends to a model, as far as the model looks at it. */
interface Asked {
  model?: string;
  messages?: { role?: string; content?: unknown }[];
  input?: { type?: string; output?: unknown }[];
  tools?: AskedTool[];
}

interface AskedTool {
  name?: string;
  function?: { name?: string };
  /** The tools of a namespace. */
  tools?: { name?: string }[];
}

interface Block {
  type: string;
  content?: unknown;
}

/** A call of a tool by the model. */
export interface PlannedCall {
  name: string;
  input: object;
}

/**
 * Returns the next call of the model, or `null` if it answers. Gets the names of the host's tools, and the result of the
 * call before as JSON; `null` at the beginning.
 */
export type Plan = (tools: readonly string[], result: string | null) => PlannedCall | null;

/** A model on loopback that follows a plan, and then answers with the last result that it received. */
export class ModelServer {
  /** The results of tools that hosts sent. */
  readonly results: string[] = [];
  /** The names of the tools that hosts offered. */
  readonly offered = new Set<string>();
  readonly #server: Server;
  readonly #plan: Plan;

  private constructor(plan: Plan) {
    this.#plan = plan;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(plan: Plan): Promise<ModelServer> {
    const model = new ModelServer(plan);
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const path = new URL(request.url ?? '', this.url).pathname;
    if (request.method !== 'POST') return void response.writeHead(404).end('{}');
    if (path.endsWith('/messages')) return this.#messages(JSON.parse(body) as Asked, response);
    if (path.endsWith('/responses')) return this.#responses(JSON.parse(body) as Asked, response);
    if (path.endsWith('/chat/completions'))
      return this.#completions(JSON.parse(body) as Asked, response);
    response.setHeader('content-type', 'application/json').end('{"input_tokens": 1}');
  }

  /** The Messages API of Anthropic, as a stream. */
  #messages(asked: Asked, response: ServerResponse): void {
    const last = asked.messages?.at(-1)?.content;
    const blocks = Array.isArray(last) ? (last as Block[]) : [];
    const result = blocks.find(({ type }) => type === 'tool_result');
    const call = this.#next(
      asked.tools?.map(({ name = '' }) => name),
      result?.content,
    );
    const block =
      call === null
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: `toolu_${Date.now()}`, name: call.name, input: {} };
    const delta =
      call === null
        ? { type: 'text_delta', text: this.#said(result?.content) }
        : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
    const stop = block.type === 'tool_use' ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    stream(response, [
      {
        type: 'message_start',
        message: {
          ...{ id: `msg_${Date.now()}`, type: 'message', role: 'assistant', model: asked.model },
          ...{ content: [], stop_reason: null, stop_sequence: null, usage },
        },
      },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]);
  }

  /** The Responses API of OpenAI, as a stream. */
  #responses(asked: Asked, response: ServerResponse): void {
    const result = asked.input?.findLast?.(({ type = '' }) => type.endsWith('call_output'));
    const call = this.#next(asked.tools?.flatMap(namesIn), result?.output);
    const [name = '', namespace] = call?.name.split('/').toReversed() ?? [];
    const id = `resp_${Date.now()}`;
    const item =
      call === null
        ? {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: this.#said(result?.output), annotations: [] }],
          }
        : {
            type: 'function_call',
            id: 'fc_1',
            call_id: `call_${Date.now()}`,
            name,
            ...(namespace === undefined ? {} : { namespace }),
            arguments: JSON.stringify(call.input),
            status: 'completed',
          };
    stream(response, [
      { type: 'response.created', response: { id, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: {
          id,
          status: 'completed',
          output: [item],
          usage: {
            input_tokens: 1,
            input_tokens_details: null,
            output_tokens: 1,
            output_tokens_details: null,
            total_tokens: 2,
          },
        },
      },
    ]);
  }

  /** The Chat Completions API of OpenAI, as a stream. */
  #completions(asked: Asked, response: ServerResponse): void {
    const last = asked.messages?.at(-1);
    const result = last?.role === 'tool' ? last.content : undefined;
    const names = asked.tools?.map((tool) => tool.function?.name ?? '');
    const call = this.#next(names, result);
    const delta =
      call === null
        ? { role: 'assistant', content: this.#said(result) }
        : {
            role: 'assistant',
            tool_calls: [
              {
                index: 0,
                id: `call_${Date.now()}`,
                type: 'function',
                function: { name: call.name, arguments: JSON.stringify(call.input) },
              },
            ],
          };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: asked.model };
    response.setHeader('content-type', 'text/event-stream');
    for (const choice of [
      { index: 0, delta, finish_reason: null },
      { index: 0, delta: {}, finish_reason: call === null ? 'stop' : 'tool_calls' },
    ]) {
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  }

  #next(tools: readonly string[] = [], result: unknown): PlannedCall | null {
    for (const tool of tools) this.offered.add(tool);
    const text = result === undefined ? null : JSON.stringify(result);
    if (text !== null) this.results.push(text);
    return this.#plan(tools, text);
  }

  #said(result: unknown): string {
    return result === undefined ? 'ok' : `the tool answered: ${JSON.stringify(result)}`;
  }
}

function stream(
  response: ServerResponse,
  events: readonly { type: string; [key: string]: unknown }[],
): void {
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events)
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

/** Returns the names of a tool, which are `namespace/name` for those of a namespace. */
function namesIn({ name = '', tools }: AskedTool): string[] {
  return tools === undefined ? [name] : tools.map((tool) => `${name}/${tool.name ?? ''}`);
}
