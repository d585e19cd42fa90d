import type { LanguageModel } from '../actors/ports.ts';
import { scriptedModel } from '../actors/tasks/tasks.ts';
import type { ScriptStep } from './test-agent.ts';

/** What the model of an agent under test plays, by the message that starts a run. */
export class ScriptPlans {
  readonly #byMessage = new Map<string, readonly ScriptStep[]>();

  /** Has the model play a script in the run that a message starts. */
  add(messageId: string, script: readonly ScriptStep[]): void {
    this.#byMessage.set(messageId, script);
  }

  /** Creates the model, which plays `usual` in any other run. */
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
