/** Returns the server path of an agent's resource, such as `/api/agents/refunds/tasks/t-1`. */
export function agentPath(agent: string, ...parts: string[]): string {
  return ['/api/agents', ...[agent, ...parts].map(encodeURIComponent)].join('/');
}
