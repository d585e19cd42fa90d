import type { LanguageModel } from '../../src/actors/ports/model.ts';
import { scriptedModel } from '../../src/actors/tasks/tasks.ts';
import type { ScriptStep } from './test-agent.ts';

/** The model scripts of an agent under test, by the message that starts a run. */
export class ScriptPlans {
  readonly #byMessage = new Map<string, readonly ScriptStep[]>();

  /** Sets the script for the run that a message starts. */
  add(messageId: string, script: readonly ScriptStep[]): void {
    this.#byMessage.set(messageId, script);
  }

  /** Creates the scripted model, which uses `usual` for all other runs. */
  model(name: string, usual: readonly ScriptStep[]): LanguageModel {
    return {
      provider: 'scripted',
      name,
      next: (conversation, options) => {
        const script = this.#byMessage.get(conversation.request.messageId) ?? usual;
        return scriptedModel(name, script).next(conversation, options);
      },
    };
  }
}
