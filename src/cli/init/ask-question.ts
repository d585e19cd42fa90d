import { isCancel, multiselect, select, text } from '@clack/prompts';
import {
  type AgentAnswers,
  offeredTools,
  providers,
  type Question,
} from '../../machines/wizard/agent-answers.ts';
import type { WizardContext } from '../../machines/wizard/wizard-machine.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';
import { goBack } from './go-back.ts';

type Answer = string | string[];

/** Asks one question at the terminal, with what is answered so far; `goBack` for the one before. Throws a CliError when it is left. */
export async function askQuestion(
  session: Session,
  question: Question,
  { answers, complaint }: WizardContext,
): Promise<Answer> {
  const streams = { input: session.stdin, output: session.output.stderr };
  const ask = (words: string) => (complaint === null ? words : `${complaint}. ${words}`);
  switch (question) {
    case 'name':
      return kept(
        text({ ...streams, message: ask('Name of the agent'), initialValue: answers.name }),
      );
    case 'provider':
      return kept(
        select({
          ...streams,
          message: ask('Whose model works on its tasks?'),
          initialValue: answers.provider,
          options: [...providers.map(choice), { value: goBack, label: 'back' }],
        }),
      );
    case 'model':
      return kept(
        text({
          ...streams,
          message: ask(`Model (${goBack} goes back)`),
          initialValue: answers.model,
        }),
      );
    case 'baseUrl':
      return kept(
        text({
          ...streams,
          message: ask(`Address (${goBack} goes back)`),
          initialValue: answers.baseUrl,
        }),
      );
    case 'tools':
      return chosen(
        multiselect({
          ...streams,
          message: ask('Which tools does it have?'),
          required: false,
          initialValues: [...answers.tools],
          options: [...offeredTools.map(choice), { value: goBack, label: 'back' }],
        }),
      );
    case 'held':
      return chosen(
        multiselect({
          ...streams,
          message: ask('Which of them wait for a person?'),
          required: false,
          initialValues: [...answers.held],
          options: [...answers.tools.map(choice), { value: goBack, label: 'back' }],
        }),
      );
  }
}

/** Shows the answers and asks whether the agent may be written; `goBack` for the last question. */
export function askReview({ stdin, output }: Session, answers: AgentAnswers): Promise<Answer> {
  const { name, provider, model, tools, held } = answers;
  const message = `${name}: ${`${provider} ${model}`.trim()}, tools ${tools.join(', ') || 'none'}, held ${held.join(', ') || 'none'}`;
  const options = [
    { value: 'write', label: 'write it' },
    { value: goBack, label: 'back' },
  ];
  return kept(select({ message, options, input: stdin, output: output.stderr }));
}

function choice(value: string) {
  return { value, label: value };
}

async function kept(asked: Promise<string | symbol>): Promise<string> {
  const answer = await asked;
  if (typeof answer === 'string') return answer;
  throw new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}

async function chosen(asked: Promise<string[] | symbol>): Promise<Answer> {
  const answer = await asked;
  if (isCancel(answer)) {
    throw new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
  }
  const list = answer as string[];
  return list.includes(goBack) ? goBack : list;
}
