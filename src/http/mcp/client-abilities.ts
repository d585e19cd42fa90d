import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { fieldOf } from '../wire/field-of.ts';

/** The extension of MCP 2026-07-28 in which a call may be answered with a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The generation of MCP of a message: with sessions, or without. */
export type Era = 'legacy' | 'modern';

/** The abilities of a client that matter for a call that is held. */
export interface ClientAbilities {
  /** True if the client accepts a task in place of a result. */
  tasks: boolean;
  /** True if the client can show an address to its user. */
  links: boolean;
}

/** Reads the abilities that a client states in each request (MCP 2026-07-28). */
export function statedAbilities({ envelope }: ServerContext['mcpReq']): ClientAbilities {
  const capabilities = fieldOf(envelope, CLIENT_CAPABILITIES_META_KEY);
  return {
    tasks: fieldOf(fieldOf(capabilities, 'extensions'), tasksExtension) !== undefined,
    links: opensLinks(capabilities),
  };
}

/** Returns true if a client's capabilities include showing an address to its user. */
export function opensLinks(capabilities: unknown): boolean {
  return fieldOf(fieldOf(capabilities, 'elicitation'), 'url') !== undefined;
}
