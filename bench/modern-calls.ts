import { Connections } from './connections.ts';

const envelope = (capabilities: object) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': capabilities,
});

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** The result of a request, as far as it is looked at. */
export interface CallResult {
  taskId?: string;
  status?: string;
  resultType?: string;
  content?: { text?: string }[];
}

/** A client of MCP 2026-07-28 with a number of connections, which accepts tasks. */
export class ModernCalls {
  readonly #pool: Connections;
  readonly #path: string;

  constructor(url: string, connections: number) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Connections(origin, { connections, headersTimeout: 0, bodyTimeout: 0 });
    this.#path = pathname;
  }

  /** Calls a tool, as the task of an id if there is one. */
  call(name: string, args: object, taskId?: string): Promise<CallResult> {
    const meta = taskId === undefined ? {} : { task_id: taskId };
    return this.#request('tools/call', { name, arguments: args }, { name, meta });
  }

  /** Returns the state of a task. */
  task(taskId: string): Promise<CallResult> {
    return this.#request('tasks/get', { taskId }, { name: taskId });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #request(
    method: string,
    params: object,
    { name, meta = {} }: { name: string; meta?: object },
  ): Promise<CallResult> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': name,
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method },
        params: { ...params, _meta: { ...envelope(tasks), ...meta } },
      }),
    });
    const text = await body.text();
    const { result } = JSON.parse(text) as { result?: CallResult };
    if (statusCode === 200 && result !== undefined) return result;
    throw new Error(`${method}: ${statusCode} ${text.slice(0, 300)}`);
  }
}
