/** The providers that an agent can be begun with. */
export const providers = [
  'scripted',
  'openai',
  'anthropic',
  'google',
  'ollama',
  'openai-compatible',
] as const;

/** The tools that an agent can be begun with; none of them needs settings. */
export const offeredTools = [
  'datetime_now',
  'uuid_generate',
  'math_calculate',
  'json_query',
  'csv_parse',
  'http_request',
  'web_fetch',
  'file_read',
  'file_write',
  'file_edit',
  'glob_search',
  'grep_search',
] as const;

/** What somebody answered of an agent that is to be; a question that was not asked has the answer it begins with. */
export interface AgentAnswers {
  name: string;
  provider: string;
  /** The name of the model at its provider; empty for `scripted`. */
  model: string;
  /** Where the provider answers; asked of `openai-compatible` alone. */
  baseUrl: string;
  tools: readonly string[];
  /** The tools whose calls wait for a person. */
  held: readonly string[];
}

/** The questions, in order. */
export const questions = ['name', 'provider', 'model', 'baseUrl', 'tools', 'held'] as const;

export type Question = (typeof questions)[number];

/** What the questions begin with. */
export const firstAnswers: AgentAnswers = {
  name: '',
  provider: 'scripted',
  model: '',
  baseUrl: '',
  tools: ['datetime_now'],
  held: [],
};

/** Tells whether a question is asked at all, after what was answered before it. */
export function isAsked(question: Question, answers: AgentAnswers): boolean {
  if (question === 'model') return answers.provider !== 'scripted';
  if (question === 'baseUrl') return answers.provider === 'openai-compatible';
  return question !== 'held' || answers.tools.length > 0;
}

/** Says in words what is wrong with the answer to a question, or `null` when nothing is. */
export function wrongAnswer(question: Question, answers: AgentAnswers): string | null {
  switch (question) {
    case 'name':
      return wrongName(answers.name);
    case 'provider':
      return wrongChoice([answers.provider], providers, 'provider');
    case 'model':
      return answers.model.trim() === '' ? `name a model of ${answers.provider}` : null;
    case 'baseUrl':
      return wrongUrl(answers.baseUrl);
    case 'tools':
      return wrongChoice(answers.tools, offeredTools, 'tool');
    case 'held':
      return wrongChoice(answers.held, answers.tools, 'tool of this agent');
  }
}

function wrongName(name: string): string | null {
  if (name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return null;
  return 'the name is at most 64 lower-case letters, digits and single hyphens, such as refund-desk';
}

function wrongUrl(text: string): string | null {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return null;
  return 'this is no address of the web; write it as https://models.example.com/v1';
}

function wrongChoice(
  chosen: readonly string[],
  known: readonly string[],
  what: string,
): string | null {
  const unknown = chosen.find((each) => !known.includes(each));
  if (unknown === undefined) return null;
  return `${unknown} is no ${what}; there are ${known.join(', ')}`;
}
