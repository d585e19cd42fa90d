// A server of MCP 2026-07-28 alone.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(
  () => {
    const server = new McpServer({ name: 'modern', version: '1' });
    const echo = { description: 'Echoes.', inputSchema: z.object({ text: z.string() }) };
    server.registerTool('echo', echo, ({ text }) => ({ content: [{ type: 'text', text }] }));
    return server;
  },
  { legacy: 'reject' },
);
