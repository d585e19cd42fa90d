import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { formatDuration } from '../../../machines/duration.ts';
import { plainLine } from '../../../machines/plain-line.ts';
import { EgressLimitError, egressCause } from '../../outbound/outbound.ts';
import { ToolError } from '../../ports/tool.ts';
import { connectionFault, isLoss, isUndone } from './connection-fault.ts';
import { HttpRefusal } from './http-refusal.ts';
import { quoteOf } from './server-fault.ts';

/** Why a call was ended on this side. */
export type Ending = 'stopped' | 'timeout' | 'lost';

/** Creates the error for a call that was ended on this side. */
export function endedCall(tool: string, why: Ending): ToolError {
  switch (why) {
    case 'stopped':
      return new ToolError(`${tool} was stopped because its task was`, {
        kind: 'stopped',
        isUnknown: true,
      });
    case 'timeout':
      return new ToolError(`${tool} took too long and was stopped; its outcome is unknown`, {
        kind: 'timeout',
        isUnknown: true,
      });
    case 'lost':
      return new ToolError(
        `the server of ${tool} was lost while it worked; its outcome is unknown`,
        { kind: 'connection lost', isUnknown: true },
      );
  }
}

/** Creates the error for a call that waited too long for a person at its server. */
export function calledOff(tool: string, server: string, waitsFor: string): ToolError {
  const message = `${tool} was called off before it ran: it waited at ${server} for ${waitsFor} for too long`;
  return new ToolError(message, { kind: 'called off' });
}

/** Kind of a call that failed because its server asks for input. */
export const refusedInput = 'input refused';

/** Creates the error for a call whose server asks for input. */
export function questionedCall(tool: string): ToolError {
  const message = `${tool} failed: its server asks for input, which the agent refuses`;
  return new ToolError(message, { kind: refusedInput });
}

/** Creates the error for a call whose task its server cancelled. */
export function cancelledCall(tool: string): ToolError {
  return new ToolError(`${tool} failed: its server canceled it; its outcome is unknown`, {
    kind: 'canceled',
    isUnknown: true,
  });
}

/** Creates the error for a task that belongs to another call. */
export function strayTask(tool: string): ToolError {
  const message = `${tool} failed: its server answered with the task of another call; its outcome is unknown`;
  return new ToolError(message, { kind: 'wrong task', isUnknown: true });
}

/** Creates the error for a task that its server does not know, or no longer. */
export function unknownTask(tool: string, { code, message: why }: ProtocolError): ToolError {
  const message = `${tool} failed: its server no longer has its task (${quoteOf(why)}); its outcome is unknown`;
  return new ToolError(message, { kind: `error ${code}`, isUnknown: true });
}

const elicitations = z.object({
  elicitations: z.array(z.object({ url: z.url({ protocol: /^https?$/ }).max(2_000) })).max(5),
});

/** Returns the URLs that a person must visit before the call can be made (MCP 2025-11-25). */
function addressesIn({ code, data }: ProtocolError): string {
  if (code !== ProtocolErrorCode.UrlElicitationRequired) return '';
  const asked = elicitations.safeParse(data).data?.elicitations ?? [];
  const urls = asked.map(({ url }) => plainLine(url));
  return urls.length === 0 ? '' : `; a person opens ${urls.join(' and ')} first, then try again`;
}

/** Creates the error for a call that failed at the server or on the connection. */
export function failedCall(tool: string, error: unknown): ToolError {
  const refusal = egressCause(error);
  if (refusal instanceof EgressLimitError) {
    const message = `${tool} was stopped: ${refusal.message}; its outcome is unknown`;
    return new ToolError(message, { kind: 'too much output', isUnknown: true });
  }
  if (refusal !== null) return new ToolError(refusal.message, { kind: 'egress blocked' });
  if (error instanceof ProtocolError) {
    const message = `${tool} failed: ${quoteOf(error.message)}${addressesIn(error)}`;
    return new ToolError(message, { kind: `error ${error.code}` });
  }
  if (isUndone(error)) return undoneCall(tool, error);
  if (error instanceof HttpRefusal) return refusedCall(tool, error);
  const message = `${tool} failed: its server ${connectionFault(error).message}`;
  const kind = isLoss(error) ? 'unreachable' : 'failed';
  return new ToolError(message, { kind, isUnknown: true });
}

/** A call that the server has certainly not executed, so it may be repeated. */
export class UndoneCall extends ToolError {}

/** Creates the error for a call that no server has executed. */
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
  // A gateway answers with such a status after the server may have executed the call.
  const message = `${tool} failed: its server answered with HTTP ${status}${words}${wait}`;
  return new ToolError(message, { isUnknown: status >= 500 });
}
