import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { EgressLimitError, egressCause } from '../../outbound/outbound.ts';
import { ToolError } from '../../ports.ts';
import { connectionFault, isLoss } from './connection-fault.ts';
import { quoteOf } from './server-fault.ts';

/** Why a call was ended here. */
export type Ending = 'stopped' | 'timeout' | 'lost';

/** Returns what the caller of a tool is told of a call that was ended here. */
export function endedCall(tool: string, why: Ending): ToolError {
  switch (why) {
    case 'stopped':
      return new ToolError(`${tool} was stopped because its task was`, { kind: 'stopped' });
    case 'timeout':
      return new ToolError(`${tool} took too long and was stopped; its outcome is unknown`, {
        kind: 'timeout',
      });
    case 'lost':
      return new ToolError(
        `the server of ${tool} was lost while it worked; its outcome is unknown`,
        { kind: 'connection lost' },
      );
  }
}

/** Returns the error of a call that waited for a person at its server for too long. */
export function calledOff(tool: string, server: string, waitsFor: string): ToolError {
  const message = `${tool} was called off before it ran: it waited at ${server} for ${waitsFor} for too long`;
  return new ToolError(message, { kind: 'called off' });
}

/** Returns what the caller of a tool is told when a server or the way to it fails a call. */
export function failedCall(tool: string, error: unknown): ToolError {
  const refusal = egressCause(error);
  if (refusal instanceof EgressLimitError) {
    const message = `${tool} was stopped: ${refusal.message}; its outcome is unknown`;
    return new ToolError(message, { kind: 'too much output' });
  }
  if (refusal !== null) return new ToolError(refusal.message, { kind: 'egress blocked' });
  if (error instanceof McpError) {
    return new ToolError(`${tool} failed: ${quoteOf(error.message)}`, {
      kind: `error ${error.code}`,
    });
  }
  const message = `${tool} failed: its server ${connectionFault(error).message}`;
  return new ToolError(message, { kind: isLoss(error) ? 'unreachable' : 'failed' });
}
