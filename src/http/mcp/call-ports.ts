import type { ServerContext } from '@modelcontextprotocol/server';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { Heartbeats } from '../heartbeats.ts';
import type { RequestState } from '../request-state.ts';
import type { WaitingClients } from './waiting-clients.ts';

/** The dependencies of calls. */
export interface CallPorts {
  ids: Ids;
  log: Log;
  clock: Clock;
  /** Sends periodic progress while a call is held. */
  beats: Heartbeats;
  /** The policy for a wait whose client disconnects (docs/contract/transports.md). */
  onDisconnect: 'abandon' | 'keep';
  waiting: WaitingClients;
}

/** The HTTP request of a client's message. */
export interface McpRequest {
  state: RequestState;
  /** Aborted when the client closes the response stream. */
  gone: AbortSignal;
  /** Identifies the request to other daemons on the same store; absent for a request without a session. */
  alias?: string;
  /** True if the client of the session can show an address to its user. */
  opensLinks: boolean;
}

/** The message of a client, as the SDK presents it. */
export type CallExtra = Pick<ServerContext['mcpReq'], '_meta' | 'signal' | 'notify'>;
