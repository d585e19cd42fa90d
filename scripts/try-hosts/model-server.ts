import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a host sends to a model, as far as the model looks at it. */
interface Asked {
  model?: string;
  messages?: { role?: string; content?: unknown }[];
  input?: { type?: string; output?: unknown }[];
  tools?: { name?: string; function?: { name?: string } }[];
}

interface Block {
  type: string;
  content?: unknown;
}

/** A model on loopback that calls the shell once with a command and then answers with the result it received. */
export class ModelServer {
  /** The results of tools that hosts sent. */
  readonly results: string[] = [];
  readonly #server: Server;
  readonly #command: string;

  private constructor(command: string) {
    this.#command = command;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(command: string): Promise<ModelServer> {
    const model = new ModelServer(command);
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
    const hasShell = asked.tools?.some(({ name }) => name === 'Bash') === true;
    const block =
      result === undefined && hasShell
        ? { type: 'tool_use', id: `toolu_${Date.now()}`, name: 'Bash', input: {} }
        : { type: 'text', text: '' };
    if (result !== undefined) this.results.push(JSON.stringify(result.content));
    const delta =
      block.type === 'tool_use'
        ? { type: 'input_json_delta', partial_json: JSON.stringify({ command: this.#command }) }
        : { type: 'text_delta', text: result === undefined ? 'ok' : this.#said(result.content) };
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
    if (result !== undefined) this.results.push(JSON.stringify(result.output));
    const shell = asked.tools?.find(({ name = '' }) =>
      /^(exec_command|shell|shell_command|local_shell)$/.test(name),
    );
    const id = `resp_${Date.now()}`;
    const named =
      shell?.name === 'exec_command'
        ? { cmd: this.#command }
        : { command: shell?.name === 'shell' ? ['bash', '-lc', this.#command] : this.#command };
    const item =
      result === undefined && shell !== undefined
        ? {
            type: 'function_call',
            id: 'fc_1',
            call_id: `call_${Date.now()}`,
            name: shell.name,
            arguments: JSON.stringify(named),
            status: 'completed',
          }
        : {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [
              {
                type: 'output_text',
                text: result === undefined ? 'ok' : this.#said(result.output),
                annotations: [],
              },
            ],
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
    const isResult = last?.role === 'tool';
    if (isResult) this.results.push(JSON.stringify(last.content));
    const hasShell = asked.tools?.some((tool) => tool.function?.name === 'bash') === true;
    const isCall = !isResult && hasShell;
    const input = JSON.stringify({ command: this.#command, description: 'clean up' });
    const delta = isCall
      ? {
          role: 'assistant',
          tool_calls: [
            {
              index: 0,
              id: `call_${Date.now()}`,
              type: 'function',
              function: { name: 'bash', arguments: input },
            },
          ],
        }
      : { role: 'assistant', content: isResult ? this.#said(last.content) : 'ok' };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: asked.model };
    response.setHeader('content-type', 'text/event-stream');
    for (const choice of [
      { index: 0, delta, finish_reason: null },
      { index: 0, delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' },
    ]) {
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  }

  #said(result: unknown): string {
    return `the tool answered: ${JSON.stringify(result)}`;
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
