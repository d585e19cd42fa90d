import type { ClientHello } from '../wire/acs.ts';

/** Steps that are recorded in the chain and always allowed: a gate has no rule for their content. */
const recorded = [
  'steps/sessionStart',
  'steps/agentTrigger',
  'steps/turnStart',
  'steps/userMessage',
  'steps/agentResponse',
  'steps/toolCallResult',
  'steps/subagentStop',
  'steps/turnEnd',
  'steps/sessionEnd',
] as const;

/** Steps that the rules of the gate decide on. */
const ruled = ['steps/toolCallRequest', 'steps/subagentStart'] as const;

/** Methods of the standard that a gate does not evaluate. */
const other = [
  'steps/knowledgeRetrieval',
  'steps/memoryContextRetrieval',
  'steps/memoryStore',
  'steps/preCompact',
  'steps/postCompact',
  'steps/skillRegister',
  'steps/skillLoad',
  'steps/skillUnload',
  'agbom/snapshot',
  'agbom/changed',
] as const;

/** A step as the gate treats it. */
export type Routed =
  | { kind: 'recorded'; method: (typeof recorded)[number] }
  | { kind: 'ruled'; method: (typeof ruled)[number] }
  | { kind: 'mcp'; method: string }
  | { kind: 'unsupported' };

const mcpMethod =
  /^(protocols\/MCP|wrapped:mcp-([\d.-]{1,32}))\/(\*|[A-Za-z0-9_]+(?:\/[A-Za-z0-9_]+)*)$/;

/** Returns how the gate treats a method; `null` for one that the standard does not define. */
export function routeOf(method: string): Routed | null {
  const known = recorded.find((one) => one === method);
  if (known !== undefined) return { kind: 'recorded', method: known };
  const decided = ruled.find((one) => one === method);
  if (decided !== undefined) return { kind: 'ruled', method: decided };
  const [, , , wrapped] = mcpMethod.exec(method) ?? [];
  if (wrapped !== undefined) return { kind: 'mcp', method: wrapped };
  return other.some((one) => one === method) ? { kind: 'unsupported' } : null;
}

/**
 * Returns the methods that the gate evaluates of those that a client offers. A wrapped method of an explicit version is
 * evaluated only in a version that the client declares.
 */
export function evaluatedMethods(hello: ClientHello): string[] {
  const declared = (hello.wrapped_protocols ?? [])
    .filter(({ protocol }) => protocol === 'MCP')
    .map(({ version }) => version);
  const isEvaluated = (method: string): boolean => {
    const kind = routeOf(method)?.kind ?? 'unsupported';
    const version = mcpMethod.exec(method)?.[2];
    if (version !== undefined) return declared.includes(version);
    return method === 'system/ping' || kind !== 'unsupported';
  };
  return [...new Set(hello.methods_implemented.filter(isEvaluated))];
}

/** Returns whether a session negotiated a method; `protocols/MCP/*` negotiates each MCP method. */
export function isNegotiated(method: string, negotiated: readonly string[]): boolean {
  const namespace = mcpMethod.exec(method)?.[1];
  return (
    negotiated.includes(method) ||
    (namespace !== undefined && negotiated.includes(`${namespace}/*`))
  );
}
