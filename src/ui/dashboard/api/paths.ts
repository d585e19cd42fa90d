/** Path of an agent's resource on the server, such as `/api/agents/refunds/tasks/t-1`. */
export function agentPath(agent: string, ...parts: string[]): string {
  return ['/api/agents', ...[agent, ...parts].map(encodeURIComponent)].join('/');
}
