/** A client of MCP that is tried against an agent. */
export interface TriedClient {
  /** As the table names it. */
  title: string;
  /** How `client-process.mjs` makes it. */
  kind: string;
  /** The name of its package below `node_modules`. */
  package: string;
  /** True for a command that ends after each call, so that a restart breaks nothing. */
  isOneCall?: true;
}

/** The clients, in the order of the table. */
export const clients: readonly TriedClient[] = [
  { title: 'TypeScript SDK 1.13.3', kind: 'sdk', package: 'sdk113' },
  { title: 'TypeScript SDK 1.20.2', kind: 'sdk', package: 'sdk120' },
  { title: 'TypeScript SDK 1.25.3', kind: 'sdk', package: 'sdk125' },
  { title: 'TypeScript SDK 1.32.2', kind: 'sdk', package: 'sdk132' },
  { title: 'TypeScript SDK 1.32.2, tasks', kind: 'sdkTasks', package: 'sdk132' },
  { title: 'TypeScript SDK v2, client 2.4.0', kind: 'v2', package: '@modelcontextprotocol/client' },
  {
    title: 'the same, only 2026-07-28',
    kind: 'modern',
    package: '@modelcontextprotocol/client',
  },
  {
    title: 'ext-tasks 0.2.2 on it, 2025-11-25',
    kind: 'legacyTasks',
    package: '@modelcontextprotocol/ext-tasks',
  },
  {
    title: 'ext-tasks 0.2.2 on it, 2026-07-28',
    kind: 'modernTasks',
    package: '@modelcontextprotocol/ext-tasks',
  },
  { title: '@ai-sdk/mcp 2.0.99', kind: 'aisdk', package: '@ai-sdk/mcp' },
  {
    title: '@langchain/mcp-adapters 1.1.4',
    kind: 'langchain',
    package: '@langchain/mcp-adapters',
  },
  { title: '@mastra/mcp 2.0.0', kind: 'mastra', package: '@mastra/mcp' },
  { title: '@openai/agents 0.20.0', kind: 'agents', package: '@openai/agents' },
  { title: 'mcp-remote 0.15.1', kind: 'remote', package: 'mcp-remote' },
  { title: 'supergateway 4.0.0', kind: 'supergateway', package: 'supergateway' },
  {
    title: 'mcp-inspector 2.12.0 (CLI)',
    kind: 'inspector',
    package: '@modelcontextprotocol/inspector',
    isOneCall: true,
  },
];

/** What is installed, each with its exact version. */
export const packages: Readonly<Record<string, string>> = {
  sdk113: 'npm:@modelcontextprotocol/sdk@1.13.3',
  sdk120: 'npm:@modelcontextprotocol/sdk@1.20.2',
  sdk125: 'npm:@modelcontextprotocol/sdk@1.25.3',
  sdk132: 'npm:@modelcontextprotocol/sdk@1.32.2',
  '@modelcontextprotocol/client': '2.4.0',
  '@ai-sdk/mcp': '2.0.99',
  '@langchain/mcp-adapters': '1.1.4',
  '@langchain/core': '1.4.0',
  '@langchain/langgraph': '1.7.3',
  '@mastra/core': '1.71.0',
  '@mastra/mcp': '2.0.0',
  '@modelcontextprotocol/ext-tasks': '0.2.2',
  '@openai/agents': '0.20.0',
  'mcp-remote': '0.15.1',
  supergateway: '4.0.0',
  '@modelcontextprotocol/inspector': '2.12.0',
  zod: '4.4.3',
};
