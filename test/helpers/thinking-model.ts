import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'vitest';
import { listenOnLoopback } from './listen-on-loopback.ts';
import type { wires } from './model-server.ts';

/** What every model of these tests does in its first turn: it thinks, says something and calls two tools. */
const thought = 'Look before you pay.';
const words = 'I look, then I pay.';
const calls = [
  { name: 'echo', args: { n: 1 } },
  { name: 'pay', args: { amount: 5 } },
] as const;
const answer = 'It is paid.';

/** The first answer of each wire and its last one, as its provider streams them, with all that it signs. */
const streams: Record<keyof typeof wires, { first: object[]; last: object[] }> = {
  'openai chat': { first: chatTurn({}), last: chatAnswer() },
  'openai-compatible': { first: chatTurn({ reasoning_content: thought }), last: chatAnswer() },
  ollama: { first: chatTurn({ reasoning_content: thought }), last: chatAnswer() },
  'openai responses': {
    first: [
      created(),
      ...item(0, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc-1' }),
      ...spoken(1, words),
      ...calls.flatMap(({ name, args }, index) =>
        item(index + 2, {
          type: 'function_call',
          id: `fc_${index}`,
          call_id: `call_${index}`,
          name,
          arguments: JSON.stringify(args),
          status: 'completed',
        }),
      ),
      completed(),
    ],
    last: [created(), ...spoken(0, answer), completed()],
  },
  anthropic: {
    first: [
      messageStart(),
      ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: thought },
        { type: 'signature_delta', signature: 'sig-1' },
      ]),
      ...block(1, { type: 'redacted_thinking', data: 'hidden-1' }, []),
      ...block(2, { type: 'text', text: '' }, [{ type: 'text_delta', text: words }]),
      ...calls.flatMap(({ name, args }, index) =>
        block(index + 3, { type: 'tool_use', id: `toolu_${index}`, name, input: {} }, [
          { type: 'input_json_delta', partial_json: JSON.stringify(args) },
        ]),
      ),
      ...messageStop('tool_use'),
    ],
    last: [
      messageStart(),
      ...block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: answer }]),
      ...messageStop('end_turn'),
    ],
  },
  google: {
    first: candidates([
      { text: thought, thought: true },
      { text: words },
      ...calls.map(({ name, args }, index) => ({
        functionCall: { name, args },
        ...(index === 0 ? { thoughtSignature: 'sig-1' } : {}),
      })),
    ]),
    last: candidates([{ text: answer }]),
  },
};

/** The part of the next request with its first turn that a provider requires, in its own format. */
export const toldBack = {
  'openai chat': chatTold({}),
  'openai-compatible': chatTold({ reasoning_content: thought }),
  ollama: chatTold({ reasoning_content: thought }),
  'openai responses': {
    input: [
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'enc-1', summary: [] },
      { role: 'assistant', content: words },
      ...calls.map(({ name, args }) => ({
        type: 'function_call',
        call_id: expectedId(),
        name,
        arguments: JSON.stringify(args),
      })),
      ...calls.map(({ args }) => ({
        type: 'function_call_output',
        call_id: expectedId(),
        output: JSON.stringify(args),
      })),
    ],
  },
  anthropic: {
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: thought, signature: 'sig-1' },
          { type: 'redacted_thinking', data: 'hidden-1' },
          { type: 'text', text: words },
          ...calls.map(({ name, args }) => ({
            type: 'tool_use',
            id: expectedId(),
            name,
            input: args,
          })),
        ],
      },
      {
        role: 'user',
        content: calls.map(({ args }) => ({
          type: 'tool_result',
          tool_use_id: expectedId(),
          content: JSON.stringify(args),
        })),
      },
    ],
  },
  google: {
    contents: [
      {
        role: 'model',
        parts: [
          { text: thought, thought: true },
          { text: words },
          { functionCall: expectedCall(0), thoughtSignature: 'sig-1' },
          { functionCall: expectedCall(1) },
        ],
      },
      {
        role: 'user',
        parts: calls.map(({ name, args }) => ({
          functionResponse: {
            id: expectedId(),
            name,
            response: { name, content: JSON.stringify(args) },
          },
        })),
      },
    ],
  },
} satisfies Record<keyof typeof wires, object>;

/**
 * Starts a model that thinks, says something and calls `echo` and `pay` in its first turn, and answers in its second one;
 * keeps the body of every request.
 */
export async function startThinkingModel(
  wire: keyof typeof wires,
): Promise<{ url: string; bodies: any[] }> {
  const bodies: any[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = bodies.length === 1 ? streams[wire].first : streams[wire].last;
      for (const event of events) {
        const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
        response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
      }
      response.end(wire === 'anthropic' || wire === 'google' ? '' : 'data: [DONE]\n\n');
    });
  });
  return { url: await listenOnLoopback(server), bodies };
}

/** Ids are the daemon's own. */
function expectedId(): unknown {
  return expect.stringMatching(/^[0-9a-f]{9}$/);
}

function expectedCall(index: 0 | 1): object {
  return { id: expectedId(), ...calls[index] };
}

function chatEvent(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
}

function chatTurn(thinking: object): object[] {
  const asked = calls.map(({ name, args }, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [
    chatEvent({ role: 'assistant', ...thinking }),
    chatEvent({ content: words }),
    chatEvent({ tool_calls: asked }),
    chatEvent({}, 'tool_calls'),
  ];
}

function chatAnswer(): object[] {
  return [chatEvent({ content: answer }), chatEvent({}, 'stop')];
}

function chatTold(thinking: object): object {
  const asked = calls.map(({ name, args }) => ({
    id: expectedId(),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return {
    messages: [
      { role: 'assistant', content: words, ...thinking, tool_calls: asked },
      ...calls.map(({ args }) => ({
        role: 'tool',
        tool_call_id: expectedId(),
        content: JSON.stringify(args),
      })),
    ],
  };
}

function created(): object {
  const response = { id: 'resp_1', created_at: 1, model: 'gpt-5' };
  return { type: 'response.created', response };
}

function completed(): object {
  const usage = { input_tokens: 11, output_tokens: 7 };
  return {
    type: 'response.completed',
    response: { id: 'resp_1', usage, incomplete_details: null },
  };
}

function item(index: number, done: object): object[] {
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...done, arguments: '' } },
    { type: 'response.output_item.done', output_index: index, item: done },
  ];
}

function spoken(index: number, text: string): object[] {
  const id = `msg_${index}`;
  const [added, done] = item(index, { type: 'message', id });
  const delta = {
    type: 'response.output_text.delta',
    item_id: id,
    output_index: index,
    delta: text,
  };
  return [added!, delta, done!];
}

function messageStart(): object {
  const usage = { input_tokens: 11, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage,
  };
  return { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } };
}

function block(index: number, start: object, deltas: object[]): object[] {
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function messageStop(reason: string): object[] {
  return [
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: 'message_stop' },
  ];
}

function candidates(parts: object[]): object[] {
  const content = { role: 'model', parts };
  const usageMetadata = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 };
  return [{ candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata }];
}
