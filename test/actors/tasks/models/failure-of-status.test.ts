import { describe, expect, it } from 'vitest';
import { failureOfStatus } from '../../../../src/actors/tasks/models/failure-of-status.ts';

const subject = {
  provider: 'openai',
  model: 'gpt',
  address: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
} as const;
const ollama = {
  provider: 'ollama',
  model: 'llama',
  address: 'http://127.0.0.1:11434/v1',
  keyVariable: null,
} as const;

const tools = ['shop__pay', 'shop__repo_a1b2'].map((wire) => ({
  wire,
  tool: wire.replace('_a1b2', '.a'),
}));

function told(status: number, message = '', who: typeof subject | typeof ollama = subject) {
  const failure = failureOfStatus(status, who, { retryAfter: 5, message, tools });
  return [failure.fault, failure.message];
}

describe('a status of a provider', () => {
  it.each([
    [429, '', 'busy', 'openai gpt is rate limited (429); wait, or raise its limit'],
    [
      429,
      'insufficient_quota',
      'busy',
      'openai gpt has no quota left (429); wait, or raise its limit',
    ],
    [408, '', 'late', 'openai gpt took too long (408)'],
    [500, '', 'broken', 'openai gpt failed (500); try again'],
    [529, '', 'broken', 'openai gpt is overloaded (529); try again'],
    [
      401,
      'sk-1234',
      'refused',
      'openai refused the key in OPENAI_API_KEY (401); check that it is right and may use gpt',
    ],
    [
      400,
      'This model’s maximum context length is 8192 tokens',
      'unusable',
      'the conversation is longer than openai gpt can take (400); begin a new one, or name a model that takes more',
    ],
    [
      400,
      '{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}',
      'refused',
      'openai refused the key in OPENAI_API_KEY (400); check that it is right and may use gpt',
    ],
    [402, '', 'refused', 'openai has no credit left (402); add some, or use another key'],
    [
      400,
      'sk-1234 is odd',
      'refused',
      'openai gpt rejected the request (400); check model.name and the schemas of the tools',
    ],
    ...[
      [
        400,
        "Invalid schema for function 'shop__repo_a1b2': schema must have type 'object'",
        'repo.a',
      ],
      [400, 'tools.0.custom.input_schema: input_schema does not support oneOf', 'pay'],
      [400, "[{'type': 'bad', 'loc': ('body', 'tools[1].function.parameters')}]", 'repo.a'],
      [400, 'GenerateContentRequest.tools[0].function_declarations[1].parameters: bad', 'repo.a'],
      [422, 'Invalid value: "tools[0].parameters"', 'pay'],
    ].map(
      ([status, message, tool]) =>
        [
          status,
          message,
          'refused',
          `openai gpt refused the tool shop__${tool} (${status}); fix the schema of its arguments, or take the tool from the agent`,
        ] as [number, string, string, string],
    ),
    [
      400,
      'tools.7.custom.name: a tool that was never offered',
      'refused',
      'openai gpt rejected the request (400); check model.name and the schemas of the tools',
    ],
    [
      418,
      '',
      'refused',
      'openai gpt answered with status 418; check model.base_url and model.name',
    ],
  ])('%d %s is %s', (status, message, fault, text) => {
    expect(told(status, message)).toEqual([fault, text]);
  });

  it('explains how to pull an ollama model, and which models support no tools', () => {
    expect([
      told(404, 'model "llama" not found', ollama),
      told(400, 'llama does not support tools', ollama),
    ]).toEqual([
      [
        'refused',
        'ollama at http://127.0.0.1:11434 does not know the model llama (404); run ollama pull llama, or fix model.name',
      ],
      ['refused', 'ollama llama does not support tools (400); use a model that does'],
    ]);
  });

  it('reports a missing key', () => {
    expect(told(401, '', ollama)).toEqual([
      'refused',
      'ollama at http://127.0.0.1:11434 wants a key (401); name the variable that holds it in model.api_key_env',
    ]);
  });
});
