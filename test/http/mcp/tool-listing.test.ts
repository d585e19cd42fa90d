import { expect, it } from 'vitest';
import type { McpFace, OfferedTool } from '../../../src/http/mcp/mcp-face.ts';
import { ToolListing } from '../../../src/http/mcp/tool-listing.ts';
import type { JsonObject } from '../../../src/machines/json.ts';

const outputSchema = { type: 'object', properties: { rows: { type: 'integer' } } };

function tool(name: string, more: Partial<OfferedTool> = {}): OfferedTool {
  const parameters: JsonObject = { type: 'object', properties: {} };
  return { name, description: `Does ${name}.`, parameters, ...more };
}

function listing(tools: OfferedTool[], more: Partial<McpFace> = {}) {
  const warned: string[] = [];
  const face: McpFace = {
    agentId: 'till',
    version: '1',
    ready: () => null,
    tools: () => tools,
    hasTool: (name) => tools.some((one) => one.name === name),
    onToolsChanged: () => undefined,
    key: async () => Buffer.alloc(32),
    answerWithin: 50_000,
    mayHold: () => false,
    changesOutput: false,
    pageOf: () => null,
    keptFor: 0,
    ...more,
  };
  return { warned, listing: new ToolListing(face, { warn: (_, text) => void warned.push(text) }) };
}

it('annotations are listed, and an output schema only where every answer matches it', () => {
  const annotations = { readOnlyHint: true };
  const tools = [tool('rows', { annotations, outputSchema })];
  const shown = { name: 'rows', description: 'Does rows.', inputSchema: tools[0]?.parameters };
  expect(listing(tools).listing.tools(null, 'modern')).toEqual([
    { ...shown, annotations, outputSchema },
  ]);
  for (const more of [
    { changesOutput: true },
    { mayHold: (name: string | null) => name === 'rows' },
  ]) {
    expect(listing(tools, more).listing.tools(null, 'modern')).toEqual([{ ...shown, annotations }]);
  }
});

it('a tool that clients cannot read is omitted, and logged once', () => {
  const odd = { type: 'object', required: null } as JsonObject;
  const tools = () => [tool('good'), tool('odd', { parameters: { ...odd } })];
  let offered = tools();
  const { listing: shown, warned } = listing([], { tools: () => offered });
  for (let round = 0; round < 3; round += 1) {
    expect(shown.tools(null, 'modern').map(({ name }) => name)).toEqual(['good']);
    // A server that connects anew brings new objects.
    offered = tools();
  }
  expect(warned).toEqual([
    expect.stringMatching(
      /^mcp: the tool odd is not shown to MCP clients, since its definition is none of MCP \(inputSchema\.required: .+\); correct its schema$/,
    ),
  ]);
});

it('task_result is listed while calls may be held, unless the agent has a tool of that name', () => {
  const mayHold = () => true;
  const names = (tools: OfferedTool[], more: Partial<McpFace>) =>
    listing(tools, more)
      .listing.tools(null, 'modern')
      .map(({ name }) => name);
  expect([
    names([tool('pay')], { mayHold }),
    names([tool('pay')], { mayHold, answerWithin: 0 }),
    names([tool('task_result')], { mayHold }),
  ]).toEqual([['pay', 'task_result'], ['pay'], ['task_result']]);
});

it('a call that may be held is marked as a possible task for clients with sessions', () => {
  const mayHold = (name: string | null) => name !== 'look';
  const { listing: shown } = listing([tool('pay'), tool('look')], { mayHold, answerWithin: 0 });
  const executions = shown.tools(null, 'legacy').map(({ name, execution }) => [name, execution]);
  expect(executions).toEqual([
    ['pay', { taskSupport: 'optional' }],
    ['look', undefined],
  ]);
});
