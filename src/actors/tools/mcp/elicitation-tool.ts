import { answerIn, answerPrefix } from '../../../machines/domain/question.ts';
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
    schemaOf: withFields,
    check(args) {
      const { form = {} } = args;
      const fault = isJsonObject(form) ? formFault(form, answerIn(args)) : 'form is no object';
      return fault === null ? null : `${name}: ${fault}`;
    },
    run: () => Promise.reject(new ToolError('people answer the questions of a server')),
  };
}

/** Each field of the form is an argument, so that a page can show it as one. */
function withFields({ form = {} }: JsonObject): JsonObject {
  const { properties = {}, required = [] } = form as JsonObject;
  const fields = Object.entries(properties as { [name: string]: JsonObject });
  return {
    ...parameters,
    properties: {
      ...(parameters['properties'] as JsonObject),
      ...Object.fromEntries(fields.map(([name, field]) => [answerPrefix + name, told(field)])),
    },
    required: ['message', ...(required as string[]).map((name) => answerPrefix + name)],
  };
}

function told({ title, description, ...field }: JsonObject): JsonObject {
  const words = [title, description].filter((one) => typeof one === 'string').join(': ');
  return { ...field, ...(words === '' ? {} : { description: words }) };
}
