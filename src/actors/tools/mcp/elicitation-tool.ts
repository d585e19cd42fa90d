import { isJsonObject, type JsonObject } from '../../../machines/json.ts';
import { type Tool, ToolError } from '../../ports/tool.ts';
import { formFault } from './elicitation-form.ts';
import { mcpToolName } from './mcp-names.ts';

const parameters: JsonObject = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    url: { type: 'string', description: 'Address that the person opens.' },
    form: { type: 'object', description: 'JSON Schema of the fields.' },
    answer: { type: 'object', description: 'Values of the fields.' },
  },
  required: ['message'],
  additionalProperties: false,
};

/** Returns the agent's name for the questions of a server, under which rules hold them. */
export function elicitationName(server: string): string {
  return mcpToolName(server, 'elicitation');
}

/**
 * Creates the tool under whose name a server's questions are held. Neither a model nor a client can call it. Approvers
 * fill in `answer`.
 */
export function elicitationTool(server: string): Tool {
  const name = elicitationName(server);
  return {
    name,
    parameters,
    description: `A question of the MCP server ${server} for a person.`,
    idempotent: false,
    isElsewhere: true,
    check({ form, answer = {} }) {
      const fault = isJsonObject(form ?? null) ? formFault(form as JsonObject, answer) : null;
      return fault === null ? null : `${name}: ${fault}`;
    },
    run: () => Promise.reject(new ToolError('people answer the questions of a server')),
  };
}
