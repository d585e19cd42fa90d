import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../../src/actors/ports.ts';
import { oneCallModel } from '../../../../src/actors/tasks/models/one-call-model.ts';
import type { JsonValue } from '../../../../src/machines/json.ts';
import { aCall } from '../../../helpers/task-fixtures.ts';

function turnOf(data: JsonValue, results: string[] = []): Promise<Turn> {
  return oneCallModel.next(
    {
      taskId: 't-1',
      history: [],
      request: { role: 'user', parts: [{ kind: 'data', data }], messageId: 'm-1' },
      exchanges: results.map((result) => ({ call: aCall(), result })),
      said: [],
      followUps: [],
      turns: results.length,
    },
    { signal: new AbortController().signal, onToken: () => undefined },
  );
}

describe('the model of one call', () => {
  const args = { say: 'no', script: [{ tool: 'pay' }] };

  it('makes the call as it is, and answers with its result', async () => {
    expect(await turnOf({ tool: 'ping', args })).toMatchObject({
      calls: [{ tool: 'ping', args }],
      text: '',
    });
    expect(await turnOf({ tool: 'ping', args }, ['{result} is $&'])).toMatchObject({
      calls: [],
      text: '{result} is $&',
    });
  });

  it.each([null, 'ping', [], {}, { tool: 7 }, { script: [{ tool: 'pay' }] }])(
    'makes none of %j',
    async (data) => {
      await expect(turnOf(data)).rejects.toThrow('the request holds no call');
    },
  );
});
