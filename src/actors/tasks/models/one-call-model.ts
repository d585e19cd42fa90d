import { isJsonObject } from '../../../machines/json.ts';
import { type LanguageModel, ModelError } from '../../ports.ts';
import { type ScriptStep, scriptedModel } from './scripted-model.ts';

const name = 'tools/call';

/**
 * Plays the one call that an MCP client has asked for, and answers with its result (docs/contract/models.md): a task of
 * one call is a task like any, whose model is its caller.
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
    // What a client asks for is a call and no script, whatever its arguments look like.
    const request = { ...conversation.request, parts: [] };
    return scriptedModel(name, [call, { say: '{result}' }]).next(
      { ...conversation, request },
      options,
    );
  },
};
