import type { Question } from '../../../machines/domain/question.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { ToolError, type ToolRun } from '../../ports/tool.ts';
import { questionedCall } from './call-failure.ts';
import { defaultsOf, isComplete } from './elicitation-form.ts';
import type { Asker } from './mcp-session.ts';
import { readQuestions } from './read-questions.ts';

/** Maximum questions in one call. */
const mostQuestions = 10;

/** A call whose server may ask people. */
export interface AskingCall {
  name: string;
  server: string;
  /** True if people answer the questions of the server. */
  asks: boolean;
  /** The agent's credentials for the server; redacted from questions. */
  secrets: readonly string[];
}

/** Asks people the questions of one call. */
export class AskedPeople {
  readonly #call: AskingCall;
  readonly #run: Pick<ToolRun, 'ask'>;
  readonly #signal: AbortSignal;
  #questions = 0;

  constructor(call: AskingCall, run: Pick<ToolRun, 'ask'>, signal: AbortSignal) {
    this.#call = call;
    this.#run = run;
    this.#signal = signal;
  }

  /** Asks one question. An approval without all required fields is no answer. */
  readonly ask: Asker = async (question) => {
    this.#questions += 1;
    this.check();
    const { name } = this.#call;
    if (this.#run.ask === undefined) throw questionedCall(name);
    if (this.#questions > mostQuestions) {
      throw new ToolError(`${name} failed: its server asks more than ${mostQuestions} questions`, {
        kind: 'too many questions',
      });
    }
    const { secrets } = this.#call;
    const shown = JSON.parse(redactSecrets(JSON.stringify(question), secrets)) as Question;
    const answer = await this.#run.ask(shown, this.#signal);
    const { form } = question;
    if (answer.action !== 'accept' || form === undefined) return answer;
    const content = { ...defaultsOf(form), ...answer.content };
    return isComplete(form, content) ? { action: 'accept', content } : { action: 'cancel' };
  };

  /** Throws ToolError if no one answers the questions of the server. */
  check(): void {
    if (!this.#call.asks) throw questionedCall(this.#call.name);
  }

  /**
   * Asks the questions in a server's answer, one after the other, and returns the answers by key. `round` tells repeated
   * keys apart. Rejects with ToolError.
   */
  async askAll(requests: JsonObject, round = 0): Promise<JsonObject> {
    const { name, server } = this.#call;
    if (Object.keys(requests).length === 0) return {};
    this.check();
    const questions = readQuestions(server, requests);
    if (questions === null) throw questionedCall(name);
    const answers: JsonObject = {};
    for (const [key, question] of Object.entries(questions)) {
      answers[key] = (await this.ask({
        ...question,
        key: `${round}:${key}`,
      })) as unknown as JsonObject;
    }
    return answers;
  }
}
