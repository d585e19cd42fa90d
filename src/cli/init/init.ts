import { resolve } from 'node:path';
import { createActor } from 'xstate';
import { commandLine } from '../../actors/command-line.ts';
import { shellWord } from '../../machines/shell-word.ts';
import {
  type AgentAnswers,
  type Question,
  questions,
} from '../../machines/wizard/agent-answers.ts';
import { wizardMachine } from '../../machines/wizard/wizard-machine.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { goBack } from './go-back.ts';
import { writeAgent } from './write-agent.ts';

export interface InitOptions {
  dir?: string;
  provider?: string;
  model?: string;
  baseUrl?: string;
  tools?: string[];
  held?: string[];
  yes?: boolean;
}

/** `init [name]`: asks what an agent is made from, where flags do not say it, and writes one that runs. */
export async function init(
  session: Session,
  name: string | undefined,
  options: InitOptions,
): Promise<void> {
  const answers = await answersOf(session, { ...options, ...(name === undefined ? {} : { name }) });
  const directory = resolve(options.dir ?? answers.name);
  const files = writeAgent(directory, answers);
  const { output } = session;
  for (const file of files) output.line(plainLine(`wrote ${file}`));
  output.note(plainLine(`run it with: ${commandLine(`run --dir ${shellWord(directory)}`)}`));
  output.json({ agent_id: answers.name, directory, files });
}

async function answersOf(
  session: Session,
  flags: InitOptions & { name?: string },
): Promise<AgentAnswers> {
  const wizard = createActor(wizardMachine).start();
  const isAsking =
    flags.yes !== true && session.stdin.isTTY === true && session.output.stderr.isTTY === true;
  // Once somebody goes back, flags are what they may change too.
  let isByFlags = true;
  while (wizard.getSnapshot().status === 'active') {
    const { value, context } = wizard.getSnapshot();
    const question = questions.find((each) => each === value);
    const given = question === undefined || !isByFlags ? undefined : flags[question];
    if (question !== undefined && (given !== undefined || !isAsking)) {
      wizard.send({ type: 'question.answer', value: given ?? context.answers[question] });
      const { complaint } = wizard.getSnapshot().context;
      if (complaint !== null) throw wrong(question, complaint);
    } else if (!isAsking) wizard.send({ type: 'review.accept' });
    else {
      const { askQuestion, askReview } = await import('./ask-question.ts');
      const answer =
        question === undefined
          ? await askReview(session, context.answers)
          : await askQuestion(session, question, context);
      isByFlags &&= answer !== goBack;
      if (answer === goBack) wizard.send({ type: 'question.back' });
      else if (question === undefined) wizard.send({ type: 'review.accept' });
      else wizard.send({ type: 'question.answer', value: answer });
    }
  }
  return wizard.getSnapshot().context.answers;
}

const flagOf: Record<Question, string> = {
  name: 'the name, such as in init refund-desk',
  provider: '--provider',
  model: '--model',
  baseUrl: '--base-url',
  tools: '--tools',
  held: '--held',
};

function wrong(question: Question, complaint: string): CliError {
  return new CliError(plainLine(complaint), {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `give ${flagOf[question]}`,
  });
}
