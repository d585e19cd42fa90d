import { ProtocolError } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import {
  calledOff,
  cancelledCall,
  endedCall,
  failedCall,
  questionedCall,
  strayTask,
  unknownTask,
} from '../../../../src/actors/tools/mcp/call-failure.ts';
import { movedCall } from '../../../../src/actors/tools/mcp/moved-call.ts';

const coded = (code: string) => Object.assign(new Error('fetch failed'), { code });

it.each([
  ['its task was stopped', endedCall('pay', 'stopped'), true],
  ['it timed out', endedCall('pay', 'timeout'), true],
  ['its server was lost', endedCall('pay', 'lost'), true],
  ['its server canceled it', cancelledCall('pay'), true],
  ['its server answered with the task of another call', strayTask('pay'), true],
  ['its server lost its task', unknownTask('pay', new ProtocolError(-32_000, 'gone')), true],
  ['its server was replaced', movedCall('pay'), true],
  ['its connection was cut', failedCall('pay', coded('ECONNRESET')), true],
  ['no connection was made', failedCall('pay', coded('ECONNREFUSED')), false],
  ['its server answered with an error', failedCall('pay', new ProtocolError(-32_000, 'no')), false],
  ['it was canceled before it ran', calledOff('pay', 'bank', 'ann'), false],
  ['its server asked for input', questionedCall('pay'), false],
])('the outcome of a call is known or not where %s', (_, error, isUnknown) => {
  expect(error.isUnknown).toBe(isUnknown);
});
