import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Clock, Ids, Log } from '../../actors/ports.ts';
import type { Heartbeats } from '../heartbeats.ts';
import type { RequestState } from '../request-state.ts';
import type { WaitingClients } from './waiting-clients.ts';

/** What calls are made with. */
export interface CallPorts {
  ids: Ids;
  log: Log;
  clock: Clock;
  /** Tells clients now and then that a call is still held. */
  beats: Heartbeats;
  /** The policy for a wait whose client is gone (docs/contract/transports.md). */
  onDisconnect: 'abandon' | 'keep';
  waiting: WaitingClients;
}

/** The request that a message of a client came in. */
export interface McpRequest {
  state: RequestState;
  /** Aborted once the client has left the stream of its answer. */
  gone: AbortSignal;
  /** By which the request is found at other daemons over the store. */
  alias: string;
}

export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;
