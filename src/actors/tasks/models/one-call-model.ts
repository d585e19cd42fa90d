import { isJsonObject } from '../../../machines/json.ts';
import { type LanguageModel, ModelError } from '../../ports.ts';
import { type ScriptStep, scriptedModel } from './scripted-model.ts';

const name = 'tools/call';

/**
 * A model that makes the single call requested by an MCP client, and answers with its result (docs/contract/models.md).
 * A task for one call is a regular task whose caller acts as its model.
 */
export const oneCallModel: LanguageModel = {
  provider: 'mcp',
  name,
  next(conversation, options) {
    const [part] = conversation.request.parts;
    const data = part?.kind === 'data' ? part.data : null;
    if (!isJsonObject(data) || typeof data['tool'] !== 'string') {
      return Promise.reject(new ModelError('the request holds no call'));
    }
    const call: ScriptStep = { tool: data['tool'], args: data['args'] };
    // Removes data parts, so that arguments that look like a script are not run as one.
    const request = { ...conversation.request, parts: [] };
    return scriptedModel(name, [call, { say: '{result}' }]).next(
      { ...conversation, request },
      options,
    );
  },
};
