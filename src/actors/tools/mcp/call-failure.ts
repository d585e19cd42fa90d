import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { formatDuration } from '../../../machines/duration.ts';
import { plainLine } from '../../../machines/plain-line.ts';
import { EgressLimitError, egressCause } from '../../outbound/outbound.ts';
import { ToolError } from '../../ports.ts';
import { connectionFault, isLoss, isUndone } from './connection-fault.ts';
import { HttpRefusal } from './http-refusal.ts';
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

const elicitations = z.object({
  elicitations: z.array(z.object({ url: z.url({ protocol: /^https?$/ }).max(2_000) })).max(5),
});

/** Returns where a person must go before the call can be made (MCP 2025-11-25). */
function addressesIn({ code, data }: McpError): string {
  if (code !== ErrorCode.UrlElicitationRequired) return '';
  const asked = elicitations.safeParse(data).data?.elicitations ?? [];
  const urls = asked.map(({ url }) => plainLine(url));
  return urls.length === 0 ? '' : `; a person opens ${urls.join(' and ')} first, then try again`;
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
    const message = `${tool} failed: ${quoteOf(error.message)}${addressesIn(error)}`;
    return new ToolError(message, { kind: `error ${error.code}` });
  }
  if (isUndone(error)) return undoneCall(tool, error);
  if (error instanceof HttpRefusal) return refusedCall(tool, error);
  const message = `${tool} failed: its server ${connectionFault(error).message}`;
  return new ToolError(message, { kind: isLoss(error) ? 'unreachable' : 'failed' });
}

/** A call of which the server has certainly done nothing, so that it may be made once more. */
export class UndoneCall extends ToolError {}

/** Returns what the caller of a tool is told of a call that no server has run. */
export function undoneCall(tool: string, error: unknown): UndoneCall {
  const { message: why } = connectionFault(error);
  const message = `${tool} was not run: its server ${why}; try again later`;
  return new UndoneCall(message, { kind: 'unreachable' });
}

function refusedCall(tool: string, error: HttpRefusal): ToolError {
  const { status, said } = error;
  const words = said === '' ? '' : `: ${quoteOf(said)}`;
  if (status === 401) {
    const message = `${tool} failed: its server ${connectionFault(error).message}`;
    return new ToolError(message, { kind: 'unreachable' });
  }
  if (status === 403) {
    return new ToolError(`${tool} failed: its server refused the call (HTTP 403${words})`, {
      kind: 'refused',
    });
  }
  const { retryAfter } = error;
  const wait = retryAfter === null ? '' : `; try again in ${formatDuration(retryAfter)}`;
  return new ToolError(`${tool} failed: its server answered with HTTP ${status}${words}${wait}`);
}
