/** An MCP server that is tried with an agent. */
export interface TriedServer {
  /** As the table names it. */
  title: string;
  /** Its package; absent for a program of this folder. */
  package?: string;
  program?: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** What its calls need, if they are not tried. */
  needs?: string;
  /** A call that works offline, and what its result contains. */
  call?: { tool: string; args: Record<string, string | number | boolean>; wanted: RegExp };
  /** A file that must exist before the call. */
  file?: string;
}

/** The servers, in the order of the table. `.` in their arguments is the folder of the agent. */
export const servers: readonly TriedServer[] = [
  {
    title: 'everything 2026.8.31',
    package: '@modelcontextprotocol/server-everything',
    args: ['stdio'],
    call: { tool: 'get-sum', args: { a: 2, b: 3 }, wanted: /5/ },
  },
  {
    title: 'the same, a task',
    package: '@modelcontextprotocol/server-everything',
    args: ['stdio'],
    call: {
      tool: 'simulate-research-query',
      args: { topic: 'bridges', ambiguous: false },
      wanted: /bridges/,
    },
  },
  {
    title: 'filesystem 2026.8.31',
    package: '@modelcontextprotocol/server-filesystem',
    args: ['.'],
    file: 'order.txt',
    call: { tool: 'read_text_file', args: { path: 'order.txt' }, wanted: /A-1042/ },
  },
  {
    title: 'memory 2026.8.31',
    package: '@modelcontextprotocol/server-memory',
    args: [],
    env: { MEMORY_FILE_PATH: './memory.jsonl' },
    call: { tool: 'read_graph', args: {}, wanted: /entities/ },
  },
  {
    title: 'sequential-thinking 2026.8.31',
    package: '@modelcontextprotocol/server-sequential-thinking',
    args: [],
    call: {
      tool: 'sequentialthinking',
      args: { thought: 'One.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      wanted: /thoughtNumber/,
    },
  },
  { title: 'playwright 0.0.83', package: '@playwright/mcp', args: [], needs: 'a browser' },
  {
    title: 'github 2025.4.8',
    package: '@modelcontextprotocol/server-github',
    args: [],
    needs: 'a network',
  },
  {
    title: 'postgres 0.6.2',
    package: '@modelcontextprotocol/server-postgres',
    args: ['postgresql://127.0.0.1:1/none'],
    needs: 'a database',
  },
  { title: 'notion 2.5.2', package: '@notionhq/notion-mcp-server', args: [], needs: 'a network' },
  { title: 'context7 4.1.1', package: '@upstash/context7-mcp', args: [], needs: 'a network' },
  {
    title: 'TypeScript SDK v2, server 2.4.0',
    program: 'modern-server.mjs',
    args: [],
    call: { tool: 'echo', args: { text: 'hello' }, wanted: /hello/ },
  },
];

/** What is installed, each with its exact version. */
export const packages: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/server': '2.4.0',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-github': '2025.4.8',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  '@modelcontextprotocol/server-postgres': '0.6.2',
  '@modelcontextprotocol/server-sequential-thinking': '2026.8.31',
  '@notionhq/notion-mcp-server': '2.5.2',
  '@playwright/mcp': '0.0.83',
  '@upstash/context7-mcp': '4.1.1',
  zod: '4.4.3',
};
